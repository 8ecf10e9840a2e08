"""What every page has."""

import pytest

from tests.people import page

pytestmark = pytest.mark.django_db


def test_screen_readers_announce_only_the_newest_toast(mallory):
    region = page(mallory.get("/signin/")).select_one("#toasts")
    assert (region["role"], region["aria-live"], region["aria-atomic"]) == (
        "status",
        "polite",
        "false",
    )


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
