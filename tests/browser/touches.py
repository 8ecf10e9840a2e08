"""Touch gestures."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from playwright.sync_api import Locator, Page


def double_tap(page: Page, x: int, y: int) -> None:
    """Tap twice; the events' timestamps are close, however late a busy machine sends the events."""
    session = page.context.new_cdp_session(page)
    begun = time.time()
    for at in (begun, begun + 0.1):
        finger = {"touchPoints": [{"x": x, "y": y}], "timestamp": at}
        session.send("Input.dispatchTouchEvent", {"type": "touchStart", **finger})
        lifted = {"touchPoints": [], "timestamp": at + 0.02}
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", **lifted})
    session.detach()


@contextmanager
def dragging(page: Page, x: float, y: float) -> Iterator[Callable[[float], None]]:
    """Hold a finger down; yield a function that moves it sideways to an x coordinate."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: dict[str, float]) -> None:
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", {"x": x, "y": y})
    yield lambda x: touch("touchMove", {"x": x, "y": y})
    touch("touchEnd")
    session.detach()


def resting_on(row: Locator) -> AbstractContextManager[object]:
    """Hold a finger down on a row."""
    box = row.bounding_box()
    assert box
    return dragging(row.page, box["x"] + 60, box["y"] + 20)
