"""Loaded before Django: tests have a data folder of their own and see no developer's settings,
except for the database server that DATABASE_URL names: tests make databases of their own there."""

import atexit
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

# A shell starts a background job with SIGINT ignored, and all programs that tests start would
# inherit that: no SIGINT would stop them. A handler isn't inherited, so one that does nothing
# leaves this process as it was and gives its children the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_signal: None)

folder = tempfile.mkdtemp(prefix="ferry-tests-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)

# Read as text: once imported, the settings would have read the developer's own.
settings = (Path(__file__).resolve().parents[1] / "config" / "settings.py").read_text()
for name in re.findall(r'env\.\w+\(\s*"(\w+)"', settings):
    if name != "DATABASE_URL":
        os.environ.pop(name, None)
# Compiled once: else each of some hundred processes compiles all it loads, a quarter of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Programs that tests start have no click, as in production: with it, httpx would load its command
# line, a sixth of each start. This process has it, for Schemathesis.
without_click = str(Path(__file__).parent / "without_click")
sys.path[:] = [each for each in sys.path if each != without_click]
os.environ.update(
    PYTHONPATH=without_click,
    DATA_DIR=folder,
    ENV_FILE=os.devnull,
    DEBUG="false",
    PORT="8000",
    TORRENT_NETWORK="loopback",
    TORRENT_PORT="0",
)
