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


TELEVISIONS = (
    "Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) AppleWebKit/537.36 TV Safari/537.36",
    "Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/108.0.5359.211 Safari/537.36",
    "Mozilla/5.0 (Linux; Andr0id 9; BRAVIA 4K GB) AppleWebKit/537.36 Chrome/96.0 Safari/537.36",
    "Mozilla/5.0 (Linux; Android 11; AFTKRT Build/RS8101) AppleWebKit/537.36 Silk/112.5",
)
OTHERS = (
    "",
    "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36",
    "Mozilla/5.0 (Linux; Tizen 2.3; SAMSUNG SM-Z130H) AppleWebKit/537.3 Mobile Safari/537.3",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/26.0 Safari/605",
    f"{'x' * 5000} SmartTV",
)


def is_for_television(client, agent: str = "", path: str = "/account/") -> bool:
    shown = page(client.get(path, headers={"User-Agent": agent}))
    parts = [
        shown.select_one("html").has_attr("data-television"),
        shown.select_one("link[href*=television]") is not None,
        shown.select_one("script[src*=television]") is not None,
    ]
    assert len(set(parts)) == 1
    return parts[0]


@each_case("agent", [*TELEVISIONS, *OTHERS])
def test_only_televisions_load_what_is_for_them(mallory, agent):
    assert is_for_television(mallory, agent, "/signin/") == (agent in TELEVISIONS)


def test_people_say_whether_a_browser_is_a_television(bob):
    for agent, choice in ((OTHERS[1], "yes"), (TELEVISIONS[0], "no")):
        shown = page(bob.client.get("/account/", headers={"User-Agent": agent}))
        button = shown.select_one("button[name=television]")
        assert button["value"] == choice
        sent = {"television": button["value"]}
        assert bob.client.post("/account/look/", sent)["Location"] == "/account/#browser"
        assert is_for_television(bob.client, agent) == (choice == "yes")


def test_the_choice_of_a_television_keeps_the_color_scheme(bob):
    for sent in ({"theme": "dark"}, {"television": "yes"}, {"theme": "light"}):
        bob.client.post("/account/look/", sent)
    html = page(bob.client.get("/account/")).select_one("html")
    assert html["data-theme"] == "light"
    assert html.has_attr("data-television")
