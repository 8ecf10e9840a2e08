"""The Transfers screen as people use it, with a service whose state tests can change."""

import json
import secrets
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import httpx
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, Playwright, expect

from tests.browser.axe import faults_at
from tests.browser.chromium import launched
from tests.browser.people import Visitor
from tests.browser.targets import too_small
from tests.browser.waiting import PATIENCE_MS, until
from tests.running import Ferry
from tests.service.media.waiting import wait_until
from tests.webui import service
from tests.webui.service import Storage

pytestmark = pytest.mark.browser(
    "Polls morph an open list: focus, menus, presses, and toasts survive"
)
CONTEXT = "kept"
WIDTHS = (320, 390, 768, 1440)
HASH = "08ada5a7a6183aae1e09d831df6748d566095a10"
RUNNING = {"progress": 42, "size": 1_000_000_000, "download_rate": 5_000_000, "connected_to": 9}
# No page waits longer before its next poll.
LONGEST_PAUSE_MS = 60_000
LONGEST_TASK_MS = 100
TIMES_SLOWER = 4
AT_ONCE_MS = 20


@pytest.fixture(scope="module")
def ferry(far_ferry: Ferry) -> Ferry:
    return far_ferry


@pytest.fixture(autouse=True)
def empty(far: Storage) -> None:
    far.is_back()
    far.fake.transfers.clear()
    far.fake.items = {service.ROOT: far.fake.items[service.ROOT]}
    far.fake.revision += 1


def row(page: Page, name: str) -> Locator:
    return page.locator("#transfers .transfer").filter(has_text=name)


def name() -> str:
    """Return a title that no other test has used: the site remembers ids and titles."""
    return f"Film {secrets.token_hex(4)}"


def show(alice: Visitor, *titles: str) -> None:
    """Open the page once the site is in step with the service.

    When a person opens the page, the site asks the service again, at most every two seconds. For an
    open page, the site asks only every 15 seconds while no transfer runs.
    """

    def is_in_step() -> bool:
        text = alice.page.request.get(f"{alice.url}/transfers/").text()
        return all(title in text for title in titles)

    wait_until(is_in_step, PATIENCE_MS / 1000, pause_seconds=0.3)
    alice.open("/transfers/")
    for title in titles:
        expect(row(alice.page, title)).to_be_visible(timeout=PATIENCE_MS)


@pytest.mark.journey
def test_a_transfer_progresses_on_the_open_page(alice, far):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    shown = row(alice.page, title)
    expect(shown.locator(".transfer-pct")).to_have_text("42%")
    alice.page.evaluate("key => (document.getElementById(key).dataset.mine = '1')", f"t{one.id}")
    far.tells(one, progress=57)
    expect(shown.locator(".transfer-pct")).to_have_text("57%")
    expect(alice.page).to_have_title("57% · Transfers · Ferry")
    far.tells(one, progress=100, download_rate=0)
    expect(shown).to_contain_text("Moving to your files")
    folder = far.folder(title)
    far.tells(one, progress=101, folder_created=folder.id)
    expect(shown.locator(".facts")).to_contain_text("In your files")
    expect(alice.page.locator("#toasts")).to_contain_text(f"{title} is in your files")
    expect(alice.page.locator("#running")).to_be_hidden()
    shown.get_by_role("link", name="Open").click()
    alice.page.wait_for_url(f"**/files/{folder.id}/")


def test_the_meter_moves_with_the_list(alice, far):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    meter = alice.page.locator("#meter [role=meter]")
    before = meter.get_attribute("aria-valuetext")
    far.file("Arrived.mkv", bytes(8_000_000))
    far.tells(one, progress=57)
    expect(row(alice.page, title).locator(".transfer-pct")).to_have_text("57%")
    expect(meter).not_to_have_attribute("aria-valuetext", before)


def test_a_swap_keeps_the_focus_and_an_open_menu(alice, far):
    title = name()
    one = far.transfer(title, hash=HASH, **RUNNING)
    show(alice, title)
    shown = row(alice.page, title)
    shown.locator(".more").click()
    menu = alice.page.locator("#transfer-menu")
    expect(menu.get_by_role("button", name="Copy link")).to_be_focused()
    far.tells(one, progress=58)
    expect(shown.locator(".transfer-pct")).to_have_text("58%")
    expect(menu).to_be_visible()
    expect(menu.get_by_role("button", name="Copy link")).to_be_focused()
    alice.page.keyboard.press("Escape")
    expect(shown.locator(".more")).to_be_focused()
    far.tells(one, progress=59)
    far.transfer(name(), **RUNNING)
    expect(shown.locator(".transfer-pct")).to_have_text("59%")
    expect(shown.locator(".more")).to_be_focused()


def test_a_menu_closes_at_its_own_button_and_moves_to_that_of_another_row(alice, far):
    titles = name(), name()
    _other, one = [far.transfer(title, hash=HASH, **RUNNING) for title in titles]
    show(alice, *titles)
    menu = alice.page.locator("#transfer-menu")
    above, below = [row(alice.page, title).locator(".more") for title in titles]
    below.click()
    far.tells(one, progress=58)
    expect(row(alice.page, titles[1]).locator(".transfer-pct")).to_have_text("58%")
    expect(below).to_have_attribute("aria-expanded", "true")
    below.click()
    expect(menu).to_be_hidden()
    below.click()
    above.click()
    expect(above).to_have_attribute("aria-expanded", "true")
    expect(below).not_to_have_attribute("aria-expanded", "true")
    alice.page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    below.click()
    expect(menu).to_be_visible()


def test_a_button_that_is_busy_stays_so_while_its_row_moves(alice, far):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    more = row(alice.page, title).locator(".more")
    more.evaluate("button => button.setAttribute('aria-busy', 'true')")
    far.tells(one, progress=58)
    expect(row(alice.page, title).locator(".transfer-pct")).to_have_text("58%")
    expect(more).to_have_attribute("aria-busy", "true")


def test_no_row_moves_under_a_finger(alice, far):
    titles = name(), name()
    _first, second = [far.transfer(title, **RUNNING) for title in titles]
    show(alice, *titles)
    page, shown = alice.page, row(alice.page, titles[0])
    box = shown.locator(".transfer-name").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    with page.expect_response(lambda answer: "/list/" in answer.url and answer.status == 200):
        far.tells(second, progress=101, folder_created=far.folder(titles[1]).id)
        far.transfer(name(), **RUNNING)
    assert page.locator("#active .transfer").filter(has_text=titles[1]).count() == 1
    assert shown.locator(".transfer-name").bounding_box() == box
    page.mouse.up()
    expect(page.locator("#done .transfer").filter(has_text=titles[1])).to_have_count(1)
    expect(page.locator("#active .transfer")).to_have_count(2)


def test_the_focus_stays_on_a_row_that_moves_and_goes_to_the_next_if_it_leaves(alice, far):
    titles = [name() for _row in range(3)]
    rows = [far.transfer(title, **RUNNING) for title in titles]
    show(alice, *titles)
    page = alice.page
    row(page, titles[1]).locator(".more").focus()
    far.tells(rows[1], progress=101, folder_created=far.folder(titles[1]).id)
    expect(page.locator("#done .transfer").filter(has_text=titles[1])).to_have_count(1)
    expect(row(page, titles[1]).locator(".more")).to_be_focused()
    leaving = page.locator("#active .transfer").first
    key = leaving.get_attribute("id")
    leaving.locator(".more").focus()
    far.forgets(next(each for each in rows if f"t{each.id}" == key))
    expect(page.locator("#active .transfer")).to_have_count(1)
    expect(page.locator("#active .transfer").locator(":focus")).to_have_count(1)


def test_a_failure_is_announced_once(alice, far):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    far.tells(one, state="failed", reason="fetch_error")
    failed = alice.page.locator("#toasts .toast").filter(has_text=f"{title} failed")
    expect(failed).to_be_visible()
    expect(alice.page.locator("#failures .transfer")).to_have_count(1)
    far.tells(one, size=2_000_000_000)
    expect(row(alice.page, title)).to_be_visible()
    expect(failed).to_have_count(1)


@pytest.mark.journey
def test_a_transfer_is_canceled_after_confirmation_and_can_be_restored(alice, far):
    first, second = name(), name()
    keep, gone = far.transfer(first, **RUNNING), far.transfer(second, **RUNNING)
    show(alice, first, second)
    row(alice.page, second).get_by_role("link", name="Cancel").click()
    dialog = alice.page.get_by_role("dialog")
    expect(dialog).to_contain_text("This transfer is 42% done")
    expect(dialog.get_by_text("Keep transfer")).to_be_focused()
    dialog.get_by_role("button", name="Cancel transfer").click()
    expect(alice.page.locator("#toasts")).to_contain_text("Transfer canceled")
    expect(dialog).to_be_hidden()
    expect(row(alice.page, second)).to_have_count(0)
    alice.page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(row(alice.page, second)).to_be_visible()
    assert list(far.fake.transfers) == [keep.id, gone.id]


def test_finished_transfers_can_be_cleared_and_restored(alice, far):
    """A foreign service's transfers vanish from its list when they are done."""
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    folder = far.folder(title)
    far.tells(one, progress=101, folder_created=folder.id)
    done = alice.page.locator("#done .transfer").filter(has_text=title)
    expect(done).to_be_visible()
    far.forgets(one)
    alice.page.get_by_role("button", name="Clear list").click()
    expect(alice.page.locator("#ended")).to_be_hidden()
    toast = alice.page.locator("#toasts .toast").filter(has_text="List cleared")
    toast.get_by_role("button", name="Undo").click()
    expect(alice.page.locator("#toasts")).to_contain_text("List restored")
    expect(done).to_be_visible()
    assert faults_at(alice.page, 320, 1440) == []


@pytest.mark.browser("The script writes to the clipboard")
def test_the_link_is_copied_from_the_menu(context, alice, far):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    title = name()
    far.transfer(title, hash=HASH, **RUNNING)
    show(alice, title)
    row(alice.page, title).locator(".more").click()
    alice.page.get_by_role("button", name="Copy link").click()
    expect(alice.page.locator("#toasts")).to_contain_text("Link copied")
    assert HASH in alice.page.evaluate("navigator.clipboard.readText()")


@pytest.mark.journey
def test_everything_is_reached_by_keys(alice, far):
    title = name()
    far.transfer(title, **RUNNING)
    alice.open("/")
    alice.page.keyboard.type("gt")
    alice.page.wait_for_url("**/transfers/")
    expect(row(alice.page, title)).to_be_visible(timeout=PATIENCE_MS)
    row(alice.page, title).get_by_role("link", name="Cancel").focus()
    alice.page.keyboard.press("Enter")
    expect(alice.page.get_by_role("dialog")).to_be_visible()
    alice.page.keyboard.press("Escape")
    expect(alice.page.get_by_role("dialog")).to_be_hidden()
    expect(row(alice.page, title).get_by_role("link", name="Cancel")).to_be_focused()


@pytest.mark.browser("Taps open the menu and its dialog on a phone")
def test_a_hand_cancels_from_the_menu(phone, far):
    title = name()
    far.transfer(title, **RUNNING)
    show(phone, title)
    row(phone.page, title).locator(".more").tap()
    phone.page.get_by_role("button", name="Cancel transfer").tap()
    phone.page.get_by_role("dialog").get_by_role("button", name="Cancel transfer").tap()
    expect(row(phone.page, title)).to_have_count(0)


@pytest.mark.browser("Only layout tells how far a finger may miss a name")
def test_names_of_finished_transfers_are_large_enough_for_a_finger(phone, far):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(phone, title)
    far.tells(one, progress=101, folder_created=far.folder(title).id)
    done = phone.page.locator("#done .transfer").filter(has_text=title)
    expect(done.locator(".transfer-name a:not([data-details])")).to_be_visible()
    assert too_small(phone.page) == []


@pytest.mark.browser("Only layout tells how high a row is")
def test_rows_on_a_phone_are_at_most_two_fingers_high(phone, far):
    titles = crowd(far)
    done = far.transfer("Done." * 40, **RUNNING)
    show(phone, titles[0], done.title)
    far.tells(done, progress=101, folder_created=far.folder("Done").id)
    expect(phone.page.locator("#done .transfer").filter(has_text=done.title)).to_be_visible()
    expect(phone.page.locator("#failures .transfer").first).to_be_visible()
    rows = phone.page.locator("#transfers .transfer").all()
    high = {each.get_attribute("id"): each.bounding_box()["height"] for each in rows}
    assert len(high) > len(titles)
    assert {key: height for key, height in high.items() if height > 88} == {}
    assert too_small(phone.page) == []
    assert faults_at(phone.page, 320, 390) == []


@pytest.mark.browser("Only layout tells what the box shows before it has the focus")
def test_on_a_phone_the_box_has_one_line_until_it_is_used(phone, far):
    show(phone)
    page, box = phone.page, phone.page.locator("#send")
    add = box.get_by_role("button", name="Add", exact=True)
    expect(add).to_be_hidden()
    assert box.bounding_box()["height"] <= 60
    box.locator("textarea").tap()
    expect(add).to_be_visible()
    box.get_by_text("Upload files").hover()
    page.mouse.down()
    expect(add).to_be_visible()
    page.mouse.up()
    page.locator("h1").tap()
    box.locator("textarea").fill("x")
    page.locator("h1").click()
    expect(add).to_be_visible()


@pytest.mark.browser("The browser paints the head of the line")
def test_the_head_of_the_line_is_whole_at_the_first_percent(alice, far):
    title = name()
    far.transfer(title, **RUNNING | {"progress": 1})
    show(alice, title)
    line = row(alice.page, title).locator(".route")
    picture = Image.open(BytesIO(line.screenshot(animations="disabled"))).convert("RGB")
    head = [
        (x, y)
        for x in range(picture.width)
        for y in range(picture.height)
        if (pixel := picture.getpixel((x, y)))[0] > 190 and pixel[2] < 110
    ]
    across, down = ({at[side] for at in head} for side in (0, 1))
    assert len(across) == len(down) >= 8


@pytest.mark.browser("Timers stop while the page is hidden")
def test_a_hidden_page_does_not_poll_and_polls_at_once_when_shown(alice, far, clock):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    urls = []
    alice.page.on("request", lambda request: urls.append(request.url))
    hide(alice.page, is_hidden=True)
    alice.page.evaluate("document.title")
    urls.clear()
    far.tells(one, progress=77)
    clock.run_for(LONGEST_PAUSE_MS)
    assert [url for url in urls if "/list/" in url] == []
    clock.pause_at(alice.page.evaluate("Date.now()") + LONGEST_PAUSE_MS)
    with alice.page.expect_response("**/transfers/list/**"):
        hide(alice.page, is_hidden=False)
        clock.run_for(AT_ONCE_MS)
    clock.resume()
    expect(row(alice.page, title).locator(".transfer-pct")).to_have_text("77%")


@pytest.mark.browser("Timers poll on each page, and stop while it is hidden")
def test_the_number_in_the_navigation_is_right_on_every_page(alice, far, clock):
    title, urls = name(), []
    far.transfer(title, **RUNNING)
    alice.page.on("request", lambda request: urls.append(request.url))
    show(alice, title)
    clock.run_for(LONGEST_PAUSE_MS)
    assert [url for url in urls if "/running/" in url] == []
    alice.open("/account/pair/code/")
    count = alice.page.get_by_role("link", name="Transfers").locator("#running b")
    expect(count).to_have_text("1")
    other = far.transfer(name(), **RUNNING)
    expect(count).to_have_text("2")
    hide(alice.page, is_hidden=True)
    alice.page.evaluate("document.title")
    urls.clear()
    far.forgets(other)
    clock.run_for(LONGEST_PAUSE_MS)
    assert urls == []
    hide(alice.page, is_hidden=False)
    expect(count).to_have_text("1")
    alice.page.evaluate("document.dispatchEvent(new CustomEvent('transfers-changed'))")
    far.fake.transfers.clear()
    far.fake.revision += 1
    expect(alice.page.locator("#running")).to_be_hidden()


@pytest.mark.browser("A failed poll leaves what a person types in the page")
def test_a_page_that_is_left_open_after_its_session_stays_and_asks_less_often(alice, far, clock):
    """A person may be typing in the page."""
    alice.open("/account/pair/code/")
    alice.page.get_by_label("Code").fill("half a co")
    alice.page.context.clear_cookies(name=f"ferry_session_{alice.ferry.port}")
    with alice.page.expect_response("**/transfers/running/**"):
        clock.run_for(LONGEST_PAUSE_MS)
    expect(alice.page.get_by_label("Code")).to_have_value("half a co")


def hide(page: Page, *, is_hidden: bool) -> None:
    page.evaluate(
        "is => { Object.defineProperty(document, 'hidden', { value: is, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }",
        is_hidden,
    )


@pytest.mark.browser("The browser loses its network, and finds it again")
def test_the_page_reports_being_offline_and_being_back(alice, far, troubles):
    title = name()
    one = far.transfer(title, **RUNNING)
    show(alice, title)
    alice.page.context.set_offline(True)
    expect(alice.page.locator("#unreachable")).to_be_visible()
    far.tells(one, progress=66)
    alice.page.context.set_offline(False)
    expect(row(alice.page, title).locator(".transfer-pct")).to_have_text("66%")
    expect(alice.page.locator("#unreachable")).to_be_hidden()
    troubles.clear()


@pytest.mark.browser("The banner for the service hides while the browser is offline")
def test_an_unreachable_service_is_reported_with_the_age_of_the_data(alice, far, troubles, clock):
    title = name()
    far.transfer(title, **RUNNING)
    show(alice, title)
    far.says("/rest/folder", *[httpx.Response(503) for _ in range(50)])
    away = alice.page.locator("#away .banner")
    expect(away).to_contain_text(
        "You're seeing an earlier state of these transfers", timeout=PATIENCE_MS
    )
    expect(row(alice.page, title)).to_be_visible()
    alice.page.context.set_offline(True)
    expect(alice.page.locator("#unreachable")).to_be_visible()
    expect(away).to_be_hidden()
    alice.page.context.set_offline(False)
    expect(away).to_be_visible(timeout=PATIENCE_MS)
    expect(alice.page.locator("#unreachable")).to_be_hidden()
    troubles.clear()
    far.is_back()

    # The site doesn't ask a failed service for some seconds; the page polls every 30 s.
    def is_back() -> bool:
        clock.fast_forward(LONGEST_PAUSE_MS)
        return away.is_hidden()

    wait_until(is_back, PATIENCE_MS / 1000, pause_seconds=0.3)


def test_a_link_without_a_name_gets_one_once_it_is_known(alice, far):
    show(alice)
    page, info_hash, title = alice.page, secrets.token_hex(20), name()
    page.get_by_label("Magnet links or web addresses").fill(f"magnet:?xt=urn:btih:{info_hash}")
    page.get_by_role("button", name="Add", exact=True).click()
    result = page.locator("#results .result strong")
    expect(result).to_have_text(info_hash)
    (one,) = far.fake.transfers.values()
    one.title = title
    far.tells(one)
    expect(row(page, title)).to_be_visible(timeout=PATIENCE_MS)
    expect(result).to_have_text(title)


def test_a_page_that_still_shows_files_on_their_way_is_not_left(alice, far):
    show(alice)
    page = alice.page
    page.evaluate("document.getElementById('sending-files').hidden = false")
    page.context.clear_cookies(name=f"ferry_session_{alice.ferry.port}")
    for _poll in range(2):
        with page.expect_response(lambda answer: "hx-redirect" in answer.headers):
            page.evaluate("document.dispatchEvent(new CustomEvent('transfers-changed'))")
    assert page.url == f"{alice.url}/transfers/"
    expect(page.locator("#unreachable")).to_be_hidden()
    page.evaluate("document.getElementById('sending-files').hidden = true")
    page.wait_for_url("**/signin/?next=/transfers/")


@pytest.mark.browser("The script asks for permission, and notifies while the page has no focus")
def test_people_who_opted_in_get_a_notification_too(context, alice, far):
    """Without a service worker, as in some private windows, the page itself shows it."""
    title = name()
    one = far.transfer(title, **RUNNING)
    context.grant_permissions(["notifications"])
    alice.page.add_init_script(
        "delete Navigator.prototype.serviceWorker; window.said = [];"
        " window.Notification = class { static permission = 'default';"
        " static async requestPermission() { return (this.permission = 'granted'); }"
        " constructor(_title, { body }) { window.said.push(body); } };"
        " Document.prototype.hasFocus = () => false;"
    )
    show(alice, title)
    assert alice.page.evaluate("Notification.permission") == "default"
    alice.page.get_by_role("button", name="Notify me when done").click()
    expect(alice.page.locator("#notify")).to_be_hidden()
    far.tells(one, progress=101, folder_created=far.folder(title).id)
    until(alice.page, "window.said.some((each) => each.includes(value))", title)


@pytest.mark.browser("Where rows are before the script runs, and after it")
def test_no_row_moves_as_the_page_offers_notifications(phone, far):
    title = name()
    far.transfer(title, **RUNNING)
    page, held = phone.page, []
    page.add_init_script("window.Notification = class { static permission = 'default'; };")
    show(phone, title)
    page.route("**/js/transfers/main.*", lambda route: held.append(route))  # noqa: PLW0108  Playwright sets an attribute on handlers, which built-ins refuse.
    with page.expect_request("**/js/transfers/main.*"):
        page.goto(f"{phone.url}/transfers/", wait_until="commit")
    expect(row(page, title)).to_be_visible(timeout=PATIENCE_MS)
    before = row(page, title).bounding_box()
    held[0].continue_()
    expect(page.get_by_role("button", name="Notify me when done")).to_be_visible()
    assert row(page, title).bounding_box() == before


@pytest.fixture
def notified(playwright: Playwright, ferry: Ferry) -> Iterator[Visitor]:
    """Yield a visitor with notifications, which Chromium's headless shell denies."""
    with launched(playwright, is_full=True) as chromium, chromium.new_context() as context:
        context.grant_permissions(["notifications"])
        context.add_init_script("Document.prototype.hasFocus = () => false")
        visitor = Visitor(context.new_page(), ferry.url, ferry)
        visitor.sign_in()
        visitor.meet_worker()
        yield visitor


SHOWN = """navigator.serviceWorker.ready
  .then((registration) => registration.getNotifications())
  .then((shown) => shown.map(({ body }) => body))"""
# The browser lets a worker focus and open windows only after a real click, which no test can make.
CLICK = """async () => {
  const acts = [];
  WindowClient.prototype.focus = async function () { acts.push(`focus ${this.url}`); };
  clients.openWindow = async (url) => acts.push(`open ${url}`);
  for (const notification of await registration.getNotifications())
    dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  for (let left = 300; left && !acts.length; left -= 1)
    await new Promise((resolve) => setTimeout(resolve, 30));
  return [...acts, (await registration.getNotifications()).length];
}"""


@pytest.mark.browser(
    "Chromium itself keeps what a service worker shows, and tells the worker of clicks"
)
@pytest.mark.parametrize(("path", "act"), [("/transfers/", "focus"), ("/files/", "open")])
def test_a_click_on_a_notification_leads_to_transfers(notified, far, path, act):
    title, page = name(), notified.page
    one = far.transfer(title, **RUNNING)
    show(notified, title)
    far.tells(one, progress=101, folder_created=far.folder(title).id)
    expect(page.locator("#toasts")).to_contain_text(f"{title} is in your files")
    wait_until(
        lambda: [title in each for each in page.evaluate(SHOWN)] == [True], PATIENCE_MS / 1000
    )
    notified.open(path)
    (worker,) = page.context.service_workers
    assert worker.evaluate(CLICK) == [f"{act} {notified.url}/transfers/", 0]


PUSHED = """navigator.serviceWorker.ready
  .then((registration) => registration.getNotifications())
  .then((shown) => shown.map(({ title, body, lang, tag }) => [title, body, lang, tag]))"""


NOTE_BADGES = """() => {
  self.badges = [];
  const set = navigator.setAppBadge.bind(navigator);
  navigator.setAppBadge = (count) => set(count).then(() => badges.push(count));
}"""


def push(page: Page, origin: str, payload: dict[str, Any]) -> None:
    """Deliver a payload to the service worker, as the browser does for its push service."""
    session, found = page.context.new_cdp_session(page), []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda facts: found.extend(each["registrationId"] for each in facts["registrations"]),
    )
    session.send("ServiceWorker.enable")
    wait_until(lambda: page.evaluate("1") and found, PATIENCE_MS / 1000)
    facts = {"origin": origin, "registrationId": found[0], "data": json.dumps(payload)}
    session.send("ServiceWorker.deliverPushMessage", facts)


@pytest.mark.browser("Chromium's service worker shows what its push service delivers")
def test_a_pushed_notification_is_shown_and_a_click_leads_to_its_page(notified):
    page = notified.page
    notification = {
        "title": "Ferry",
        "body": "Sintel ist bei deinen Dateien",
        "navigate": f"{notified.url}/account/",
        "lang": "de",
        "tag": "ferry-1",
        "app_badge": "3",
    }
    (worker,) = page.context.service_workers
    worker.evaluate(NOTE_BADGES)
    push(page, notified.url, {"web_push": 8030, "notification": notification})
    wait_until(lambda: page.evaluate(PUSHED), PATIENCE_MS / 1000)
    shown = [notification[name] for name in ("title", "body", "lang", "tag")]
    assert page.evaluate(PUSHED) == [shown]
    wait_until(lambda: worker.evaluate("badges") == [3], PATIENCE_MS / 1000)
    assert worker.evaluate(CLICK) == [f"open {notified.url}/account/", 0]


def crowd(far: Storage) -> list[str]:
    """Add transfers in all states, some with very wide names; return those names."""
    titles = [
        f"{name()}.Cosmos.Laundromat.2015.1080p",
        "n" * 200,
        "<img src=x onerror=alert(1)>",
        "אבג.mkv",
    ]
    for title in titles:
        far.transfer(title, **RUNNING)
    far.transfer("Queued", size=10)
    far.transfer("Details")
    far.transfer("Moving", progress=100, size=5000)
    one = far.transfer("Failed", **RUNNING)
    one.facts |= {"state": "failed", "reason": "fetch_error"}
    one = far.transfer("Room", **RUNNING)
    one.facts |= {"state": "no_room", "reason": "not_enough_space", "size": 10**13}
    return titles


@pytest.mark.browser("Layout and accessibility at four widths")
def test_axe_finds_nothing_and_nothing_overflows(alice, far):
    page, found = alice.page, {}
    alice.open("/transfers/")
    found["empty"] = faults_at(page, *WIDTHS)
    titles = crowd(far)
    show(alice, titles[0])
    for width in WIDTHS:
        found["crowd", width] = faults_at(page, width)
        row(page, titles[0]).locator(".more").click()
        expect(page.locator("#transfer-menu")).to_be_visible()
        found["menu", width] = faults_at(page, width)
        page.keyboard.press("Escape")
        expect(page.locator("#transfer-menu")).to_be_hidden()
    assert {case: faults for case, faults in found.items() if faults} == {}


@pytest.mark.browser("How long the longest task of the page computes")
def test_two_thousand_transfers_keep_a_slow_machine_at_ease(alice, far):
    for number in range(1950):
        far.transfer(f"Waits.S01E{number}.1080p", size=10**9, state="queued").facts |= {
            "state": "queued"
        }
    runs = [far.transfer(f"Runs.S02E{number}.2160p", **RUNNING) for number in range(50)]
    show(alice, "Runs.S02E1.2160p")
    browser = alice.page.context.browser
    shown = alice.page.locator(f"#t{runs[0].id} .transfer-pct")
    longest = []
    for percent in (50, 51, 52):
        browser.start_tracing(page=alice.page, categories=["toplevel"])
        for one in runs:
            far.tells(one, progress=percent)
        expect(shown).to_have_text(f"{percent}%", timeout=PATIENCE_MS)
        longest.append(longest_task_ms(browser.stop_tracing()))
    assert 0 < min(longest) <= LONGEST_TASK_MS / TIMES_SLOWER
    alice.page.locator("a[data-more]").first.scroll_into_view_if_needed()
    expect(alice.page.locator("#active .transfer")).to_have_count(200, timeout=PATIENCE_MS)


def longest_task_ms(trace: bytes) -> float:
    """Return the CPU time of the longest task of the threads that draw pages.

    Chromium's own throttling isn't an alternative: it also stretches the time in which a thread
    waits for a processor, so the test would fail on a busy machine.
    """
    events = json.loads(trace)["traceEvents"]
    named = [each for each in events if each["name"] == "thread_name"]
    drawing = [each for each in named if each["args"]["name"] == "CrRendererMain"]
    threads = {(each["pid"], each["tid"]) for each in drawing}
    tasks = [each for each in events if (each["pid"], each["tid"]) in threads]
    return max((each.get("tdur", 0) / 1000 for each in tasks), default=0)
