import threading


def wait_until(is_so, seconds=120, pause_seconds=0.01):
    """For what tells nobody when it happens."""
    pause = threading.Event()
    for _ in range(int(seconds / pause_seconds)):
        if is_so():
            return
        pause.wait(pause_seconds)
    raise AssertionError("It never came.")
