"""Previews of archives, which list their contents."""

import io
import random
from zipfile import ZipFile, ZipInfo

import pytest

from tests.cases import each_case
from tests.people import page, words
from webui.contents import remote_file
from webui.contents.remote_file import fetch_piece
from webui.previews import zip_contents

pytestmark = pytest.mark.django_db


def archive(*names: str, content: bytes = b"x" * 2000, comment: bytes = b"") -> bytes:
    kept = io.BytesIO()
    with ZipFile(kept, "w") as written:
        for name in names:
            written.writestr(ZipInfo(name), b"" if name.endswith("/") else content)
        written.comment = comment
    return kept.getvalue()


def zip_page(person, file):
    return person.client.get(f"/files/0/file-{file.id}/view/")


def listed(answer) -> list[str]:
    return [item.get_text(" ", strip=True) for item in page(answer).select(".packed li")]


def kind(answer) -> str:
    return page(answer).select_one("#viewer")["data-kind"]


def test_the_files_in_a_zip_are_listed_in_natural_order(gwen, storage):
    file = storage.file("Season.zip", archive("Season/", "Season/10.mkv", "Season/2.mkv", "a.txt"))
    answer = zip_page(gwen, file)
    assert listed(answer) == ["a.txt 2 KB", "Season/ 2.mkv 2 KB", "Season/ 10.mkv 2 KB"]
    assert "3 items" in words(answer, ".viewer-title")
    assert "6 KB unpacked" in words(answer, ".viewer-title")


def test_only_the_end_of_a_large_zip_is_fetched(gwen, storage, monkeypatch):
    """No page shows what was fetched, so this test records the calls that fetch."""
    file = storage.file("big.zip", archive("big.bin", content=bytes(2_000_000)))
    starts = []

    def fetch(v1, name, expected, start):
        starts.append(start)
        return fetch_piece(v1, name, expected, start)

    monkeypatch.setattr(remote_file, "fetch_piece", fetch)
    assert listed(zip_page(gwen, file)) == ["big.bin 2 MB"]
    [start] = starts
    assert start > 1_700_000


def test_a_directory_longer_than_the_end_is_fetched_too(gwen, storage):
    names = [f"{number:04}-{'n' * 200}.txt" for number in range(1500)]
    answer = zip_page(gwen, storage.file("many.zip", archive(*names, content=b"")))
    assert len(listed(answer)) == 1001
    assert listed(answer)[-1] == "and 500 more"
    assert "1,500 items" in words(answer, ".viewer-title")


def test_an_archive_without_files_says_so(gwen, storage):
    assert "doesn't contain any files" in words(
        zip_page(gwen, storage.file("a.zip", archive())), ".packed"
    )


def test_names_in_a_zip_are_only_text(gwen, storage):
    hostile = ["<img src=x onerror=alert(1)>", "../../etc/passwd", "a\x07b\u202egpj.exe"]
    answer = zip_page(gwen, storage.file("a.zip", archive(*hostile)))
    assert not page(answer).select(".packed img")
    assert "\x07" not in answer.content.decode()
    assert len(listed(answer)) == 3


@pytest.mark.slow
@each_case("seed", range(40))
def test_a_damaged_zip_is_listed_or_not_but_never_breaks_the_page(gwen, storage, seed):
    chance = random.Random(seed)
    content = bytearray(archive("a/b.txt", "c.mkv", "d.jpg", content=b"x", comment=b"c" * 20))
    for _change in range(chance.randrange(1, 6)):
        content[chance.randrange(2, len(content))] = chance.randrange(256)
    answer = zip_page(gwen, storage.file(f"{seed}.zip", bytes(content)))
    assert answer.status_code == 200
    assert kind(answer) in ("archive", "none")


def test_a_zip_whose_directory_is_too_long_is_not_read(gwen, storage, monkeypatch):
    monkeypatch.setattr(zip_contents, "MOST_PIECES", 1)  # Writing 2 MB of names would take long.
    names = [f"{number:04}-{'n' * 200}.txt" for number in range(1200)]
    answer = zip_page(gwen, storage.file("a.zip", archive(*names, content=b"")))
    assert kind(answer) == "none"


def test_an_entry_without_a_name_is_left_out(gwen, storage):
    whole = archive("a.txt", "b")
    at = whole.rindex(b"PK\x01\x02")
    length = at + 28  # of the name, in the directory's entry
    content = whole[:length] + b"\0\0" + whole[length + 2 : at + 46] + whole[at + 47 :]
    end = content.rindex(b"PK\x05\x06")
    size = int.from_bytes(content[end + 12 : end + 16], "little") - 1
    content = content[: end + 12] + size.to_bytes(4, "little") + content[end + 16 :]
    assert listed(zip_page(gwen, storage.file("a.zip", content))) == ["a.txt 2 KB"]


def test_truncated_pieces_are_requested_once(gwen, storage, monkeypatch):
    """No page shows what was fetched, so this test records the calls that fetch."""
    names = [f"{number:04}-{'n' * 200}.txt" for number in range(3000)]
    file = storage.file("many.zip", archive(*names, content=b""))
    fetched = []

    def fetch(v1, name, expected, start):
        fetched.append(start)
        return fetch_piece(v1, name, expected, start)[:1024]

    monkeypatch.setattr(remote_file, "fetch_piece", fetch)
    assert zip_page(gwen, file).status_code == 200
    assert len(fetched) == 1


def test_a_temporary_failure_of_the_service_leaves_the_pages_links(gwen, storage):
    file = storage.file("a.zip", archive("a.txt"))
    gwen.client.get("/")
    storage.fails(f"/rest/file/{file.id}", 503)
    answer = zip_page(gwen, file)
    assert answer.status_code == 200
    assert page(answer).select_one(f"a[href^='/files/file/{file.id}/download/']")
