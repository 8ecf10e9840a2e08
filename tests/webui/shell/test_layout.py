"""What every page has."""

import re

import pytest

from tests.cases import each_case
from tests.people import page, words

pytestmark = pytest.mark.django_db


def test_screen_readers_announce_only_the_newest_toast(mallory):
    region = page(mallory.get("/signin/")).select_one("#toasts")
    assert (region["role"], region["aria-live"], region["aria-atomic"]) == (
        "status",
        "polite",
        "false",
    )


def over_https(client, path):
    """Open a page with the session of http, whose cookies have other names."""
    for name, morsel in list(client.cookies.items()):
        client.cookies[f"{name}_s"] = morsel.value
    return client.get(path, secure=True)


@each_case("path", ["/", "/add/", "/account/"])
def test_only_https_is_said_to_install_ferry_and_to_receive_shares(bob, storage, path):
    """Browsers on phones neither install pages of plain HTTP nor share anything with them."""
    promise = re.compile("from any app|choose Ferry|Choose Ferry|Home Screen")
    assert not promise.search(words(bob.client.get(path), "main"))
    assert promise.search(words(over_https(bob.client, path), "main"))


def test_a_chosen_scheme_is_sent_at_once(bob):
    """The switch has no button where scripts run."""
    switches = page(bob.client.get("/account/")).select("form.themes")
    assert switches
    for switch in switches:
        assert switch["hx-trigger"] == "change"
        assert switch["hx-post"] == switch["action"]
        values = [choice["value"] for choice in switch.select("[name=theme]")]
        assert values == ["system", "light", "dark"]
        sent = {"theme": "dark"}
        bob.client.post(switch["hx-post"], sent, headers={"hx-request": "true"})
        html = page(bob.client.get("/account/")).select_one("html")
        assert html["data-theme"] == "dark"
        assert {choice["value"] for choice in html.select(".scheme[checked]")} == {"dark"}
