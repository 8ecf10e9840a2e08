"""The data of the Files screen."""

from datetime import UTC, datetime

from webui.files.pages.rows import FilesContext, rows
from webui.library.addresses import Addresses, ViewOptions
from webui.library.entries import FILE, FOLDER, Entry
from webui.player.position import Position
from webui.words.formatting import Calendar


def test_a_folder_with_the_id_of_a_film_was_not_watched():
    """Files and folders are numbered separately."""
    entries = [Entry(kind, "7", f"{kind}.mkv", 1000, None) for kind in (FOLDER, FILE)]
    calendar = Calendar(datetime(2026, 11, 25, tzinfo=UTC), UTC)
    positions = frozenset([("7", Position(600, 1200, is_watched=False))])
    context = FilesContext(calendar, positions=positions)
    folder, file = rows(entries, Addresses("0", ViewOptions()), context)
    assert (folder.watched_percent, folder.watched_text) == ("", "")
    assert file.watched_percent == "50"
