"""Prepare what Ferry needs before it answers: tables, static files, a link for the first owner."""

import errno
import fcntl
import logging
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import TextIO

import segno
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import Error as DatabaseError
from django.urls import reverse
from django.utils import timezone

from common.addresses import own as addresses
from common.storage import durable, hardlinks
from config.embedded import upstream
from config.environment import Environment
from host import local_name
from host.static_files.collection import collect_static
from host.storage import object_storage, outage_log, release, running, shared_database
from host.tls import certificate, listening
from service.accounts import accounts
from webui.models import OneTimeLink, User
from webui.people.device_addresses import is_loopback
from webui.signin import one_time_links

log = logging.getLogger("ferry.preparation")
# Without the key of its selection, an archive is planned again.
UNSYNCED = ("listings.sqlite3*", "transfers.sqlite3*", "pins/*-key-*", "loans/*")
WELCOME_LIFETIME = timedelta(hours=1)


def prepare(*, is_key_new: bool = False) -> None:
    """Prepare everything. `is_key_new`: the owner has changed SECRET_KEY of a shared database."""
    with alone(settings.DATA_DIR / "prepare.lock"), shared_database.alone():
        running.refuse_half_restored()
        forget_metrics()
        shared_database.check_text()
        object_storage.refuse_unfit(settings.STORE_URL)
        make_tables()
        if not is_key_new:
            shared_database.refuse_other_key(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest())
        outage_log.begin()
        warn_without_links(settings.DATA_DIR)
        drop_unsynced(settings.DATA_DIR)
        # Reading the cache makes its folder, which fails if the disk has become read-only.
        durable.make_folder(settings.DATA_DIR / "cache")
        accounts.ensure_default(upstream.EMBEDDED_ACCOUNT, upstream.secret_digest(), timezone.now())
        certificate.renew_or_log()
        collect_static()


def forget_metrics() -> None:
    """Reset the metrics, unless Ferry is running; else each start would add files to sum up."""
    with running.alone() as is_alone:
        if settings.METRICS_TOKEN and is_alone:
            import_module("host.monitoring.metrics").forget()


def make_tables() -> None:
    make_private(settings.DATA_DIR)
    steps = MigrationExecutor(connection)
    # Even with nothing to do, `migrate` computes the models of all earlier steps.
    if steps.migration_plan(steps.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)
    release.note()


def drop_unsynced(folder: Path) -> None:
    """After a boot, delete caches that are never synced: a power cut may have damaged them."""
    mark, boot = folder / "boot_id", durable.read_boot_id()
    if boot and mark.is_file() and mark.read_text() == boot:
        return
    for pattern in UNSYNCED:
        for path in folder.glob(pattern):
            path.unlink()
    shutil.rmtree(folder / "cache", ignore_errors=True)
    mark.write_text(boot)


@contextmanager
def explain_failures() -> Iterator[None]:
    """If a disk or database fails, end the start with one line that says what to do."""
    try:
        yield
    except (OSError, DatabaseError) as trouble:
        if advice := outage_log.advice(trouble):
            raise SystemExit(advice) from None
        raise


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Let only one of several starting processes prepare, while the others wait for it."""
    try:
        file = path.open("a")
    except OSError as trouble:
        if outage_log.outage_in(trouble):
            raise
        Environment.refuse_folder("DATA_DIR", path.parent, trouble)
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def make_private(folder: Path) -> None:
    """Close a folder of keys and files to others; warn if the file system has no permissions."""
    with suppress(OSError):
        folder.chmod(0o700)
    if stat.S_IMODE(folder.stat().st_mode) & 0o077:
        log.warning("DATA_DIR is open to others on this machine, and Ferry can't close it.")


def warn_without_links(folder: Path) -> None:
    """Log at each start what a disk without hard links costs; everything works without them."""
    if not hardlinks.are_supported(folder):
        log.warning(
            "The disk of DATA_DIR doesn't support hard links, so Ferry copies what arrives. "
            "For a while, each transfer takes its space twice."
        )


def refuse_unusable_address() -> None:
    """Exit with one line now; the web server would log many, again and again."""
    try:
        listening.try_to_bind(settings.PORT)
    except (OSError, UnicodeError) as trouble:
        raise SystemExit(address_trouble(getattr(trouble, "errno", None))) from None


def address_trouble(number: int | None) -> str:
    port = settings.PORT
    if number == errno.EADDRINUSE:
        return f"PORT: another program, perhaps Ferry itself, uses {port}; choose a free one."
    if number == errno.EACCES:
        return f"PORT: Ferry may not use {port}; choose one above 1023."
    return "HOST: cannot listen there; it must be an address of this machine."


def announce(out: TextIO) -> None:
    """Print where to open Ferry, in text and as a QR code for a phone's camera."""
    path = welcome_path() or f"{settings.URL_PREFIX}/"
    origins = [f"http://{host}:{settings.PORT}" for host in reachable_hosts()]
    out.write("\nFerry opens at\n")
    out.writelines(f"  {origin}{settings.URL_PREFIX}/\n" for origin in origins)
    if "/welcome/" in path:
        out.write("\nNo one owns this Ferry yet. This link makes you its owner, for one hour:\n")
        out.write(f"  {origins[0]}{path}\n")
    if not is_loopback(settings.HOST):
        out.write(f"\nOn a phone in the same network, scan this ({origins[-1]}):\n\n")
        segno.make(f"{origins[-1]}{path}", error="l", micro=False).terminal(out=out, compact=True)
    if listening.https_port():
        path = f"{settings.URL_PREFIX}{reverse('secure')}"
        out.write(f"\nFor https, follow the steps at {origins[-1]}{path}\n")
    out.flush()


def reachable_hosts() -> list[str]:
    """Return the hosts to open Ferry at: this machine first, the best one for a phone last."""
    if settings.HOST not in ("0.0.0.0", "::"):  # noqa: S104
        return [f"[{settings.HOST}]" if ":" in settings.HOST else settings.HOST]
    name = addresses.resolving_name()
    lan = [str(address) for address in addresses.lan()]
    names = ["localhost", name, *reversed(lan), local_name.current()]
    return [each for each in names if each]


def welcome_path() -> str | None:
    """Return a new one-time link at every start, until someone owns this Ferry."""
    if User.objects.has_owner():
        return None
    OneTimeLink.objects.filter(purpose=OneTimeLink.WELCOME).delete()
    token = one_time_links.issue(OneTimeLink.WELCOME, timezone.now(), WELCOME_LIFETIME)
    return f"{settings.URL_PREFIX}{reverse('welcome', args=[token])}"
