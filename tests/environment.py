"""Prepare the environment before Django loads: tests get their own data folder and ignore a
developer's settings, except DATABASE_URL: on that server, tests create their own databases."""

import atexit
import os
import re
import shutil
import signal
import sys
import tempfile
from pathlib import Path

# A shell starts background jobs with SIGINT ignored. All programs that tests start would inherit
# that, and no SIGINT would stop them. Handlers aren't inherited: one that does nothing leaves this
# process as it was and gives its children the default.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, lambda *_signal: None)

folder = tempfile.mkdtemp(prefix="ferry-tests-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
# What this process makes there, those that pytest-xdist starts can copy.
os.environ.setdefault("TESTS_FOLDER", folder)

# Read the settings as text: importing them would already read the developer's own.
settings = (Path(__file__).resolve().parents[1] / "config" / "settings.py").read_text()
for name in re.findall(r'env\.\w+\(\s*"(\w+)"', settings):
    if name != "DATABASE_URL":
        os.environ.pop(name, None)
# Cache bytecode: otherwise each of some hundred processes compiles all that it loads, a quarter of
# its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Children buffer their output as on any machine, so that a missing flush shows everywhere.
os.environ.pop("PYTHONUNBUFFERED", None)
# Hide click from programs that tests start, as in production: with it, httpx would load its
# command line, a sixth of each start. This process keeps click, for Schemathesis.
without_click = str(Path(__file__).parent / "without_click")
sys.path[:] = [each for each in sys.path if each != without_click]
os.environ.update(
    PYTHONPATH=without_click,
    DATA_DIR=folder,
    ENV_FILE=os.devnull,
    DEBUG="false",
    PORT="8000",
    HTTPS_PORT="0",
    LOCAL_NAME="off",
    TORRENT_NETWORK="loopback",
    TORRENT_PORT="0",
)
