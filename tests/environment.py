"""Loaded before Django: tests have a data folder of their own and see no developer's settings."""

import atexit
import os
import shutil
import tempfile

folder = tempfile.mkdtemp(prefix="ferry-tests-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)

for name in ("SECRET_KEY", "ALLOWED_HOSTS", "TRUSTED_PROXIES", "URL_PREFIX", "DATABASE_URL"):
    os.environ.pop(name, None)
os.environ.update(
    DATA_DIR=folder,
    ENV_FILE=os.devnull,
    DEBUG="false",
    PORT="8000",
    TORRENT_NETWORK="loopback",
)
