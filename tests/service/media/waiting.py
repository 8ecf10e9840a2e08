import threading


def wait_until(is_so, seconds=120, pause_seconds=0.01):
    """Poll for something that nothing reports."""
    pause = threading.Event()
    for _ in range(int(seconds / pause_seconds)):
        if is_so():
            return
        pause.wait(pause_seconds)
    raise AssertionError("It never came.")
