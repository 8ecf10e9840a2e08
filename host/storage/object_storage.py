"""What must be true before several machines share one Ferry through an object store."""

import os

from django.conf import settings
from django.db import connection

from host.processes import FORK


def refuse_unfit(url: str, *, may_fork: bool = True) -> None:
    """Exit with one line if the settings, or the store at this URL, can't serve several machines.

    Without a URL, nothing is demanded. `may_fork`: whether this process may fork later.
    """
    if not url:
        return
    if connection.vendor == "sqlite":
        raise SystemExit("STORE_URL: an object store needs PostgreSQL; set DATABASE_URL.")
    if not os.environ.get("SECRET_KEY", "").strip():
        raise SystemExit("SECRET_KEY: with STORE_URL, set it: all machines sign with one key.")
    if settings.ACCEL:
        raise SystemExit("ACCEL: nginx can't send files from an object store; leave it empty.")
    # Only STORE_URL needs these, and the package that they import.
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415

    from service.store.objects import self_test  # noqa: PLC0415
    from service.store.objects.bucket import Bucket  # noqa: PLC0415

    try:
        bucket = Bucket.of(url, os.environ)
        if not may_fork:
            self_test.refuse_unfit(bucket)
            return
        # Forks of a process that has used obstore can't use it: its threads exist only there.
        with ProcessPoolExecutor(1, FORK) as process:
            process.submit(self_test.refuse_unfit, bucket).result()
    except self_test.UnfitStore as trouble:
        raise SystemExit(f"STORE_URL: this store {trouble}.") from None
