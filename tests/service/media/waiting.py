import threading


def wait_until(is_so, seconds=120):
    """For what tells nobody when it happens."""
    pause = threading.Event()
    for _ in range(int(seconds * 100)):
        if is_so():
            return
        pause.wait(0.01)
    raise AssertionError("It never came.")
