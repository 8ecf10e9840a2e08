"""Ferry's health: what each part reports, what to do about it, and what takes space."""

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common.health import Finding, Report, UnfinishedUploads
from webui.words import formatting
from webui.words.formatting import Calendar


@dataclass(frozen=True)
class HealthRow:
    part: str
    state: str
    advice: str
    names: tuple[str, ...]
    is_well: bool


Use = tuple[str, str, str]  # what takes space: its name, a note, and its size


@dataclass(frozen=True)
class HealthPage:
    summary: str
    is_well: bool
    rows: list[HealthRow]
    uploads: list[Use]
    uses: list[Use]
    free: str
    measured: str


def health_page(report: Report, calendar: Calendar) -> HealthPage:
    versions = tuple(f"{name} {version}" for name, version in report.versions.items())
    rows = [
        row_of(part, finding, versions if part == "versions" else ())
        for part, finding in report.findings.items()
    ]
    unhealthy_count = sum(not row.is_well for row in rows)
    return HealthPage(
        summary=summary(unhealthy_count),
        is_well=not unhealthy_count,
        # List problems first.
        rows=sorted(rows, key=lambda row: row.is_well),
        uploads=[upload_use(each) for each in report.uploads],
        uses=uses(report),
        free="" if report.free_bytes is None else formatting.size_words(report.free_bytes),
        measured=calendar.since(report.measured_at) if report.measured_at else "",
    )


def summary(unhealthy_count: int) -> str:
    if not unhealthy_count:
        return _("Everything works.")
    words = ngettext(
        "%(count)s item needs your attention.",
        "%(count)s items need your attention.",
        unhealthy_count,
    )
    return words % {"count": formatting.count_words(unhealthy_count)}


def row_of(part: str, finding: Finding | None, names: tuple[str, ...] = ()) -> HealthRow:
    name = part_words(part)
    if finding is None:
        return HealthRow(name, _("Works"), "", names, is_well=True)
    return HealthRow(name, *finding_words(finding), (*finding.names, *names), is_well=False)


def part_words(part: str) -> str:
    words = {
        "database": _("Database"),
        "pages": _("Pages"),
        "disk": _("Disk"),
        "library": _("Library"),
        "content": _("Contents of the files"),
        "service": _("Storage service"),
        "worker": _("Worker"),
        "sandbox": _("Sandbox"),
        "versions": _("Versions"),
    }
    return words.get(part, part)


def finding_words(finding: Finding) -> tuple[str, str]:
    """Return what is wrong, and what to do."""
    words = {
        "database_away": (
            _("The database isn't responding"),
            _("Check its disk or server. Ferry continues on its own once the database is back."),
        ),
        "database_locked": (
            _("Another program has locked the database"),
            _("End the program that uses it. Until then, Ferry can show files but change nothing."),
        ),
        "database_damaged": (
            _("The database is damaged"),
            _(
                "Stop Ferry and restore the latest backup, as docs/operations.md explains. "
                "Check the disk too."
            ),
        ),
        "database_newer": (
            _("A newer version of Ferry has changed the database"),
            _("Stop this Ferry, and start the newer version, or restore an older backup."),
        ),
        "pages_broken": (
            _("The site's static files are damaged"),
            _("Restart Ferry. It collects them again."),
        ),
        "disk_read_only": (
            _("The disk can't be written to"),
            _(
                "Check its cable, its file system, and who owns the data folder; then mount it for "
                "writing and start Ferry again."
            ),
        ),
        "disk_full": (
            _("The disk is full"),
            _("Free some space on it. Deleting files in Ferry works as soon as a little is free."),
        ),
        "disk_slow": (
            _("The disk is slow"),
            _("A small write took seconds. Check the disk, its cable, and what else uses it."),
        ),
        "disk_low": (
            _("The disk has no space for more files"),
            _("Delete files you don't need, or move Ferry's data folder to a larger disk."),
        ),
        "library_missing": (
            _("The library folder is missing"),
            _("If it's on another disk, mount that disk. Otherwise restore a backup."),
        ),
        "library_newer": (_("The database is older than the files"), newer_files_words()),
        "library_foreign": (_("The database doesn't belong to these files"), newer_files_words()),
        "store_away": (
            _("The object store isn't responding"),
            _("Check its server. Ferry continues on its own once the object store is back."),
        ),
        "content_missing": (
            _("The content of some files is missing"),
            _(
                "Restore a backup of the library, or delete these files. Ferry checks again when "
                "it starts, and once a day."
            ),
        ),
        "service_away": (
            _("The storage service isn't responding"),
            _("Ferry keeps trying. See “Connection” under Server for details."),
        ),
        "worker_away": (
            _("The worker isn't running, so transfers are waiting"),
            _("Restart Ferry. If it happens again, check the log."),
        ),
        "engine_away": (
            _("The torrent engine isn't responding, so torrents are waiting"),
            _("Ferry restarts it automatically. If this persists, check the log."),
        ),
        "sandbox_missing": (
            _("The programs that read pictures and films aren't sandboxed"),
            _(
                "Run Ferry on Linux 5.13 or newer with Landlock and seccomp. Until then, take "
                "care whose files you add."
            ),
        ),
        "version_hole": (
            _("A program that Ferry runs has a known security hole"),
            _("Update it. A newer version of Ferry may bring a newer one."),
        ),
    }
    other = (_("This can't be checked right now"), _("The log says why."))
    return words.get(finding.word, other)


def newer_files_words() -> str:
    return _(
        "Newer files are still here but hidden. Ferry removes nothing until you "
        "decide. In a terminal on the server, “manage.py library adopt” puts them in "
        "a folder, and “manage.py library discard” sets them aside for a while."
    )


def upload_use(uploads: UnfinishedUploads) -> Use:
    words = ngettext("%(count)s upload", "%(count)s uploads", uploads.count)
    size = formatting.size_words(uploads.size_bytes)
    if uploads.arrived_bytes is not None:
        arrived = formatting.size_words(uploads.arrived_bytes)
        size = _("%(arrived)s of %(size)s arrived") % {"arrived": arrived, "size": size}
    count = formatting.count_words(uploads.count)
    return uploads.name or _("Being saved now"), words % {"count": count}, size


def uses(report: Report) -> list[Use]:
    words = {
        "library": (_("Files in the library"), ""),
        "orphans": (_("Set aside"), _("Content that no file refers to anymore")),
        "uploads": (_("Uploads in progress"), ""),
        "transfers": (_("Transfers in progress"), ""),
        "previews": (_("Previews"), _("Ferry makes them again when needed")),
        "conversions": (_("Converted films"), _("MEDIA_CACHE limits them")),
        "database": (_("Database"), ""),
        "backups": (_("Backups of the database"), ""),
        "caches": (_("Other caches"), ""),
    }
    return [
        (*words.get(name, (name, "")), formatting.size_words(size))
        for name, size in report.space.items()
        if size or name == "library"
    ]
