"""Fingers on the glass."""

import time

from playwright.sync_api import Page


def double_tap(page: Page, x: int, y: int) -> None:
    """Quick by the fingers' own clock, however late a busy machine brings them."""
    session = page.context.new_cdp_session(page)
    begun = time.time()
    for at in (begun, begun + 0.1):
        finger = {"touchPoints": [{"x": x, "y": y}], "timestamp": at}
        session.send("Input.dispatchTouchEvent", {"type": "touchStart", **finger})
        lifted = {"touchPoints": [], "timestamp": at + 0.02}
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", **lifted})
    session.detach()
