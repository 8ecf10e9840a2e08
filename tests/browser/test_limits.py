"""Mark hours of the schedule with a mouse, a finger, and keys; switch to slow speeds; and limit one
transfer: Ferry's own service and worker."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import faults_at
from tests.browser.shelf import Shelf
from tests.browser.targets import too_small
from tests.browser.test_transfers_in_hand import torrent
from tests.running import Ferry, running

pytestmark = pytest.mark.browser("Scripts paint boxes, move the focus, and change the open page")
CONTEXT = "kept"
LIMITS = "/account/limits/"
TO_MIDNIGHT = ("22:00", "22:30", "23:00", "23:30")


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ferry]:
    folder = tmp_path_factory.mktemp("ferry")
    with running(folder, WEB_PROCESSES="1", TORRENT_NETWORK="loopback") as program:
        program.make_owner()
        yield program


@pytest.fixture(autouse=True)
def unlimited(shelf: Shelf) -> None:
    shelf.post(f"{LIMITS}schedule/")
    shelf.post("/transfers/speed/switch/?to=schedule")


def box(page: Page, day: str, time: str) -> Locator:
    return page.get_by_role("checkbox", name=f"{day}, {time}")


def marked(page: Page) -> list[str]:
    boxes = page.locator("#schedule table input:checked").all()
    return [each.get_attribute("aria-label") for each in boxes]


def center(place: Locator) -> tuple[float, float]:
    frame = place.bounding_box()
    return frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2


def test_hours_are_marked_with_the_mouse(alice):
    page = alice.page
    alice.open(LIMITS)
    box(page, "Tuesday", "09:30").click()
    assert marked(page) == ["Tuesday, 09:30"]
    page.locator("#schedule table").scroll_into_view_if_needed()
    page.mouse.move(*center(box(page, "Thursday", "23:00")))
    page.mouse.down()
    page.mouse.move(*center(box(page, "Friday", "20:00")), steps=5)
    page.mouse.move(*center(box(page, "Friday", "22:30")), steps=5)
    page.mouse.up()
    evening = ["22:30", "23:00"]
    assert marked(page) == [
        "Tuesday, 09:30",
        *(f"{day}, {time}" for day in ("Thursday", "Friday") for time in evening),
    ]
    # A drag that returns to where it began is a click.
    page.mouse.down()
    page.mouse.move(*center(box(page, "Friday", "20:00")), steps=5)
    page.mouse.move(*center(box(page, "Friday", "22:30")), steps=5)
    page.mouse.up()
    before = marked(page)
    assert "Friday, 22:30" not in before
    assert len(before) == 4
    page.locator("#schedule").get_by_role("button", name="Save").click()
    expect(page.locator("#toasts")).to_have_text("Saved")
    assert marked(page) == before


def test_hours_are_marked_with_keys(alice):
    page = alice.page
    alice.open(LIMITS)
    box(page, "Monday", "00:00").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    expect(box(page, "Tuesday", "23:00")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    assert marked(page) == ["Monday, 23:30", "Tuesday, 23:00", "Tuesday, 23:30"]
    # The table is one stop, to which the focus returns.
    page.keyboard.press("Tab")
    expect(page.locator("#schedule").get_by_role("button", name="Save")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    expect(box(page, "Monday", "23:30")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#toasts")).to_have_text("Saved")
    assert len(marked(page)) == 3


def test_hours_are_marked_with_a_finger(phone):
    page = phone.page
    phone.open(LIMITS)
    box(page, "Monday", "00:30").tap()
    assert marked(page) == ["Monday, 00:30"]
    first, last = box(page, "Wednesday", "01:00"), box(page, "Thursday", "02:00")
    first.scroll_into_view_if_needed()
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *places: Locator) -> None:
        points = [dict(zip("xy", center(each), strict=True)) for each in places]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    # A finger that doesn't rest first scrolls.
    touch("touchStart", last)
    touch("touchMove", first)
    touch("touchEnd")
    assert marked(page) == ["Monday, 00:30"]
    first.scroll_into_view_if_needed()
    touch("touchStart", first)
    expect(first).to_be_checked()
    touch("touchMove", last)
    expect(last).to_be_checked()
    touch("touchEnd")
    times = ("01:00", "01:30", "02:00")
    painted = [f"{day}, {time}" for day in ("Wednesday", "Thursday") for time in times]
    assert marked(page) == ["Monday, 00:30", *painted]
    session.detach()


def test_the_page_is_large_enough_and_accessible(alice, phone):
    phone.open(LIMITS)
    assert too_small(phone.page) == []
    alice.open(LIMITS)
    box(alice.page, "Monday", "08:00").click()
    assert faults_at(alice.page, 320, 390, 1440) == []


def test_without_scripts_hours_are_marked_and_speeds_are_switched(scriptless):
    page = scriptless.page
    scriptless.open(LIMITS)
    page.get_by_label("Monday", exact=True).check()
    page.get_by_label("From").select_option("22:00")
    page.get_by_label("To", exact=True).select_option("00:30")
    page.get_by_role("button", name="Slow speeds").click()
    assert marked(page) == [*(f"Monday, {each}" for each in TO_MIDNIGHT), "Tuesday, 00:00"]
    scriptless.open("/transfers/")
    page.get_by_role("button", name="Slow speeds").click()
    page.get_by_role("button", name="Duration").click()
    page.get_by_role("button", name="Until you switch back").click()
    expect(page.locator("#speed")).to_contain_text("until an owner switches back")
    page.get_by_role("button", name="Switch back").click()
    expect(page.locator("#toasts")).to_be_visible()


@pytest.mark.journey
def test_slow_speeds_apply_for_an_hour_and_end_with_a_click(alice):
    page = alice.page
    alice.open("/transfers/")
    expect(page.locator("#speed .banner")).to_have_count(0)
    slow = page.get_by_role("button", name="Slow speeds")
    slow.click()
    expect(page.locator("#speed")).to_contain_text("Slow speeds apply until")
    page.get_by_role("button", name="Duration").click()
    page.get_by_role("button", name="Until you switch back").click()
    expect(page.locator("#slow-menu")).to_be_hidden()
    expect(page.locator("#speed")).to_contain_text("until an owner switches back")
    expect(page.get_by_role("button", name="Duration")).to_be_focused()
    assert faults_at(page, 320, 1440) == []
    page.get_by_role("button", name="Switch back").click()
    expect(page.locator("#speed .banner")).to_have_count(0)
    expect(slow).to_be_focused()


def test_one_transfer_is_limited_from_its_menu(alice, shelf):
    file = ("x.torrent", torrent("Alps", 9_000))
    shelf.post("/transfers/send/", files={"file": file})
    page = alice.page
    alice.open("/transfers/")
    row = page.locator("#transfers .transfer").filter(has_text="Alps")
    row.locator(".more").click()
    page.locator("#transfer-menu").get_by_text("Limits").click()
    dialog = page.locator("#limits[open]")
    dialog.get_by_label("Download speed").fill("fast")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Download speed")).to_have_attribute("aria-invalid", "true")
    assert faults_at(page, 390, 1440) == []
    dialog.get_by_label("Download speed").fill("0.25")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.locator("#toasts")).to_contain_text("Saved")
    row.locator(".more").click()
    page.locator("#transfer-menu").get_by_text("Limits").click()
    expect(dialog.get_by_label("Download speed")).to_have_value("0.25")
    shelf.post("/transfers/cancel/", {"all": "whole", "confirmed": "1"})
