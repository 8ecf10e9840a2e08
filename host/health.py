"""Report whether Ferry is alive, and whether each of its parts is ready."""

import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile

from django.conf import settings
from django.core.files.storage import storages
from django.db import connections
from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from common.health import Finding, Report, UnfinishedUploads
from common.storage.outages import Outage, outage_of
from config.embedded.upstream import EMBEDDED_ACCOUNT
from host import versions
from host.static_files.storage import HashedModules
from host.storage import outage_log, release
from host.web import visitors
from host.worker import measuring
from service.errors import Busy, NoWorker, StoreAway
from service.library import space
from service.library.upkeep.database_match import Doubt, doubt_about
from service.media.serving import requests
from service.models import File, Worker
from service.store.blobs import library_store
from service.worker import leases
from webui.connection import connection
from webui.http.requests import Answer, middleware
from webui.http.roles import open_to_strangers
from webui.middleware import SECURE_SUFFIX
from webui.models import Role, User
from webui.uploads import resumable as resumable_uploads
from webui.v1.errors import Failure

log = logging.getLogger("ferry.health")

Check = Callable[[], Finding | None]
DAMAGE = Finding("database_damaged", "The database is damaged.")
MOST_NAMES = 5
# Less than this, and the database can't write either.
LEAST_FREE_BYTES = 2**20
# Each write wakes a disk that sleeps.
WRITE_SECONDS = 45
MOST_WRITE_SECONDS = 3
BLOCK_BYTES = 4096
# How long a check waits for other writers.
LOCK_SECONDS = 0.2
# Requests fail after waiting this long for a lock.
MOST_LOCKED_SECONDS = 20
# An idle worker makes a round every four seconds.
MOST_ROUND_SECONDS = 45
RECENT_SECONDS = 10
ANSWER_SECONDS = 2
MEASURE_SECONDS = 3


def database() -> Finding | None:
    try:
        User.objects.exists()
        newer_version = release.newer(connections["default"])
    except DatabaseError as trouble:
        if measuring.is_damage(trouble):
            return DAMAGE
        return Finding("database_away", "The database isn't responding.")
    if measuring.damage_place().exists():
        return DAMAGE
    if newer_version:
        return Finding("database_newer", "A newer version of Ferry has changed the database.")
    if outage_log.track("locked", is_on=is_locked()) > MOST_LOCKED_SECONDS:
        return Finding("database_locked", "Another program has locked the database.")
    return None


def is_locked() -> bool:
    """Return whether no one can write to the database now. Readers don't notice."""
    settings_dict = connections["default"].settings_dict
    if not settings_dict["ENGINE"].endswith("sqlite3"):
        return False
    try:
        with closing(
            sqlite3.connect(settings_dict["NAME"], timeout=LOCK_SECONDS, isolation_level=None)
        ) as other:
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
    except sqlite3.Error as trouble:
        return outage_of(trouble) is Outage.BUSY
    return False


def pages() -> Finding | None:
    """Check the list of static files: without it, every page that has a style sheet fails."""
    with suppress(OSError, ValueError):
        storage = storages["staticfiles"]
        if not isinstance(storage, HashedModules):
            return None
        # Check the list that this process read when it started, and the one the next will read.
        if storage.hashed_files and storage.load_manifest()[0]:
            return None
    return Finding("pages_broken", "The pages' static files are damaged.")


def disk() -> Finding | None:
    for folder in (Path(settings.DATA_DIR), Path(settings.DATA_DIR) / "library"):
        if folder.is_dir() and (finding := disk_below(folder)):
            return finding
    if not library_store().free_bytes():
        return Finding("disk_low", "The disk has no space for more files.", is_blocking=False)
    return None


def disk_below(folder: Path) -> Finding | None:
    facts = os.statvfs(folder)
    has_entries = facts.f_favail > 0 or facts.f_files == 0  # Some file systems don't count them.
    if facts.f_bavail * facts.f_frsize < LEAST_FREE_BYTES or not has_entries:
        return Finding("disk_full", "The disk is full.")
    return trouble_writing(folder)


_written_at: dict[Path, float] = {}


def trouble_writing(folder: Path) -> Finding | None:
    """Write to the disk, and find out how that goes: one with an error still looks writable."""
    began_at = time.monotonic()
    if began_at - _written_at.get(folder, float("-inf")) < WRITE_SECONDS:
        return None
    try:
        with TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(BLOCK_BYTES))
            os.fsync(file.fileno())
    except OSError:
        return Finding("disk_read_only", "The disk can't be written to.")
    now = time.monotonic()
    if now - began_at > MOST_WRITE_SECONDS:
        return Finding("disk_slow", "The disk takes seconds to write.", is_blocking=False)
    _written_at[folder] = now
    return None


class Recent:
    """A check that each process repeats every ten seconds at most."""

    def __init__(self, check: Check) -> None:
        self._check = check
        self._lock = threading.Lock()
        self._checked_at = float("-inf")
        self._finding: Finding | None = None

    def __call__(self) -> Finding | None:
        with self._lock:
            if time.monotonic() - self._checked_at > RECENT_SECONDS:
                # Other checks report that the store is away.
                with suppress(StoreAway):
                    self._finding = self._check()
                self._checked_at = time.monotonic()
            return self._finding


DOUBTS = {
    Doubt.BEHIND: Finding(
        "library_newer", "The database is older than the library.", is_blocking=False
    ),
    Doubt.FOREIGN: Finding("library_foreign", "Another database filled the library."),
    Doubt.MISSING: Finding("library_missing", "The library is missing."),
}


@Recent
def library() -> Finding | None:
    """Report a library that isn't this database's, or newer."""
    kind = doubt_about(library_store()) if connection.is_embedded() else None
    return DOUBTS[kind] if kind else None


def content() -> Finding | None:
    if not connection.is_embedded() or (file_ids := library_store().losses()) is None:
        return None
    names = File.objects.filter(pk__in=file_ids).order_by("pk").values_list("name", flat=True)
    sentence = "The content of some files is missing."
    return Finding("content_missing", sentence, tuple(names[:MOST_NAMES]), is_blocking=False)


@Recent
def service() -> Finding | None:
    """Report whether the storage service answers."""
    try:
        connection.service().v1.account()
    except Failure as failure:
        sentence = f"The storage service isn't responding: {failure.reason}."
        return Finding("service_away", sentence)
    except DatabaseError:
        return Finding("service_away", "The connection can't be looked up.")
    return None


def worker() -> Finding | None:
    """Report whether transfers run. Pages work without the worker."""
    if not connection.is_embedded():
        return None
    folder = Path(settings.DATA_DIR) / leases.FOLDER
    alive = [row for row in Worker.alive() if not leases.has_died(folder / row.name)]
    if not alive:
        return Finding("worker_away", "No worker runs: transfers wait.", is_blocking=False)
    if is_hung():
        sentence = "The worker isn't responding: transfers wait."
        return Finding("worker_away", sentence, is_blocking=False)
    if not any(row.is_engine_alive for row in alive):
        sentence = "The engine isn't responding: torrents wait."
        return Finding("engine_away", sentence, is_blocking=False)
    return None


def is_hung() -> bool:
    """Return whether this machine's worker is there, but makes no rounds."""
    try:
        answer = requests.ask("round", ANSWER_SECONDS)
    except NoWorker:
        return False
    except Busy as busy:
        return isinstance(busy.__cause__, TimeoutError)
    return float(answer["seconds_ago"]) > MOST_ROUND_SECONDS


def sandbox() -> Finding | None:
    """Report what the worker found out when it started."""
    measurements = measuring.last()
    if measurements is None or measurements.is_sealed is not False:
        return None
    sentence = "Programs that read media aren't confined."
    return Finding("sandbox_missing", sentence, is_blocking=False)


def known_holes() -> Finding | None:
    if not (holes := tuple(versions.known_holes(versions.running()))):
        return None
    sentence = "A program that Ferry runs has a known security hole."
    return Finding("version_hole", sentence, holes, is_blocking=False)


CHECKS: dict[str, Check] = {
    # First, since others wait for a slow disk, and it would seem quick then.
    "disk": disk,
    "database": database,
    "pages": pages,
    "library": library,
    "content": content,
    "service": service,
    "worker": worker,
    "sandbox": sandbox,
    "versions": known_holes,
}


def findings(left_out: Collection[str] = ()) -> dict[str, Finding | None]:
    parts = [part for part in CHECKS if part not in left_out]
    return {part: run_check(part, CHECKS[part]) for part in parts}


def run_check(part: str, check: Check) -> Finding | None:
    """Run one check. If it breaks, the others still run, and the response names the broken one."""
    try:
        return check()
    except DatabaseError:
        # The database check reports this failure.
        return Finding("unknown", f"The {part} can't be looked up.", is_blocking=False)
    except StoreAway:
        return Finding("store_away", "The object store isn't responding.", is_blocking=False)
    except Exception:
        log.exception("check failed part=%s", part)
        return Finding("unknown", f"The {part} can't be looked up.")


def report(*, is_brief: bool = False) -> Report:
    """Return the report for the owner's Health page, measured now if that takes seconds at most.

    A brief one, for the Server page, measures nothing, and leaves out the storage service.
    """
    if not is_brief:
        with suppress(Busy):
            requests.ask("measure", MEASURE_SECONDS)
    measurements = measuring.last()
    return Report(
        findings({"service"} if is_brief else ()),
        measurements.space if measurements else {},
        disk_bytes(),
        datetime.fromisoformat(measurements.at) if measurements else None,
        tuple(unfinished_uploads()),
        {} if is_brief else versions.running(),
    )


def unfinished_uploads() -> Iterator[UnfinishedUploads]:
    try:
        for name, count, arrived_bytes, size_bytes in resumable_uploads.summarize_unfinished():
            yield UnfinishedUploads(name, count, size_bytes, arrived_bytes)
        for email, count, size_bytes in space.summarize_promises(timezone.now()):
            name = "" if email == EMBEDDED_ACCOUNT else email
            yield UnfinishedUploads(name, count, size_bytes)
    except DatabaseError:
        # The database check reports this failure.
        return


def disk_bytes() -> int | None:
    try:
        return shutil.disk_usage(settings.DATA_DIR).free
    except OSError:
        return None


@never_cache
@open_to_strangers("GET")
def alive(request: HttpRequest) -> HttpResponse:
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@open_to_strangers("GET")
def ready(request: HttpRequest) -> JsonResponse:
    results = findings()
    is_ready = not any(trouble and trouble.is_blocking for trouble in results.values())
    answer: dict[str, object] = {"ready": is_ready}
    if visitors.has_token(request) or is_from_owner(request):
        answer["parts"] = {
            part: trouble.sentence if trouble else "ready" for part, trouble in results.items()
        }
    return JsonResponse(answer, status=200 if is_ready else 503)


def is_from_owner(request: HttpRequest) -> bool:
    """Return whether an owner's browser sent the request. No one is known without the database."""
    name = settings.SESSION_COOKIE_NAME + (SECURE_SUFFIX if request.is_secure() else "")
    session_key = request.COOKIES.get(name, "")
    try:
        user = visitors.person_of(session_key) if session_key else None
    except DatabaseError:
        return False
    return isinstance(user, User) and user.role == Role.OWNER


PATHS = {"/healthz": alive, "/readyz": ready}


@middleware
def answer_first(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Answer health checks before looking up sessions and people, since those lookups may fail."""
    return PATHS.get(request.path_info, get_response)(request)
