"""Which members of hostile ZIP files are unpacked, and why some files are refused."""

import io
import stat
import unicodedata
from zipfile import ZIP_BZIP2, ZIP_LZMA, ZipFile

import pytest

from service.unpacking import members
from service.unpacking.members import BadZip, members_of, open_zip, without_top
from tests.cases import each_case
from tests.service.unpacking.zips import (
    a_zip,
    encrypted,
    overlapping,
    stored,
    with_method,
    with_size,
)


def paths(content: bytes) -> list[str]:
    with open_zip(io.BytesIO(content)) as zip_file:
        return ["/".join(member.path) for member in members_of(zip_file)]


def word(content: bytes) -> str:
    with pytest.raises(BadZip) as raised:
        paths(content)
    return raised.value.word


@each_case(
    ("name", "path"),
    [
        ("a.txt", "a.txt"),
        ("a/b.txt", "a/b.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("a/./b//../c.txt", "a/b/c.txt"),
        ("..\\..\\a\\b.txt", "a/b.txt"),
        ("C:\\Windows\\a.txt", "Windows/a.txt"),
        ("c:/a.txt", "a.txt"),
        ("C:", "C:"),
        ("..", ""),
        ("été.txt", "été.txt"),
    ],
)
def test_no_path_leads_out_of_the_new_folder(name, path):
    assert paths(a_zip((name, b"x"))) == [path]


def test_a_path_of_many_folders_keeps_its_name():
    (path,) = paths(a_zip(("d/" * 30_000 + "name.txt", b"x")))
    assert (path.count("/"), path[-8:]) == (members.MOST_DEPTH, "name.txt")


def test_folders_links_and_devices_are_left_out():
    content = a_zip(("folder/", b""), ("", b""), ("file", b"x"))
    assert paths(content) == ["file"]
    assert paths(a_zip(("folder\\", b""), ("file", b"x"), ("a\\", b"x"))) == ["file", "a"]
    for kind in (stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO, stat.S_IFSOCK):
        assert word(a_zip(("link", b"/etc/passwd"), mode=kind | 0o777)) == "zip_empty"
    assert paths(a_zip(("file", b"x"), mode=stat.S_IFREG | 0o644)) == ["file"]


def test_macos_metadata_is_left_out():
    assert paths(a_zip(("a.jpg", b"x"), ("__MACOSX/._a.jpg", b"x"))) == ["a.jpg"]


@each_case(
    ("names", "whole"),
    [
        (["Photos/a.jpg", "photos/b/c.jpg"], ["a.jpg", "b/c.jpg"]),
        (["Photos/a.jpg", "b.jpg"], ["Photos/a.jpg", "b.jpg"]),
        (["Other/a.jpg"], ["Other/a.jpg"]),
        (["Photos"], ["Photos"]),
        (["../Photos/a.jpg"], ["a.jpg"]),
    ],
)
def test_a_folder_of_the_same_name_is_not_in_the_new_folder_again(names, whole):
    content = a_zip(*((name, b"x") for name in names))
    with open_zip(io.BytesIO(content)) as zip_file:
        shown = without_top(members_of(zip_file), "Photos")
    assert ["/".join(member.path) for member in shown] == whole


def test_the_name_of_that_folder_may_be_in_either_normal_form():
    content = a_zip((unicodedata.normalize("NFD", "bücher/a.txt"), b"x"))
    with open_zip(io.BytesIO(content)) as zip_file:
        (member,) = without_top(members_of(zip_file), "Bücher")
    assert member.path == ("a.txt",)


def test_equal_names_are_all_unpacked():
    assert paths(a_zip(("a", b"1"), ("b", b"2"), ("A", b"3"))) == ["a", "b", "A"]


@each_case(
    ("what", "content", "reason"),
    [
        ("nothing", b"", "zip_damaged"),
        ("no ZIP", b"x" * 1000, "zip_damaged"),
        ("cut off", a_zip(("a", b"x" * 1000))[:-30], "zip_damaged"),
        ("beginning cut off", a_zip(("a" * 50, b"x" * 1000))[60:], "zip_damaged"),
        ("no files", a_zip(), "zip_empty"),
        ("encrypted", encrypted(a_zip(("a", b"x"))), "zip_encrypted"),
        ("bzip2", a_zip(("a", b"x"), method=ZIP_BZIP2), "zip_unsupported"),
        ("LZMA", a_zip(("a", b"x"), method=ZIP_LZMA), "zip_unsupported"),
        ("unknown method", with_method(a_zip(("a", b"x")), 99), "zip_unsupported"),
        ("a stored file that grows", with_size(stored(("a", b"x")), 2), "zip_damaged"),
        ("more than Deflate can make", with_size(a_zip(("a", b"x" * 99)), 10**6), "zip_damaged"),
        ("entries that share bytes", overlapping(2), "zip_damaged"),
    ],
)
def test_bad_files_are_refused_with_the_reason(what, content, reason):
    assert word(content) == reason, what


def test_too_many_entries_are_refused_before_they_take_memory():
    assert word(overlapping(members.MOST_FILES + 1)) == "zip_too_large"


def test_a_long_directory_is_refused_unread():
    content = bytearray(a_zip(("a", b"x")))
    end = content.rfind(b"PK\5\6")
    filling = bytes(members.MOST_DIRECTORY_BYTES)
    content[end + 12 : end + 16] = (len(filling) + 50).to_bytes(4, "little")
    assert word(filling + bytes(content)) in ("zip_too_large", "zip_damaged")


class ShortReads(io.BytesIO):
    """A blob in an object store, whose reader returns less than requested."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(size, 7) if size and size > 0 else size)


def test_a_reader_may_return_less_than_requested():
    content = a_zip(("a.txt", b"some content " * 100))
    with open_zip(ShortReads(content)) as zip_file:
        (member,) = members_of(zip_file)
        assert zip_file.read(member.info) == b"some content " * 100


def test_names_are_the_same_as_in_the_list_of_the_preview():
    content = a_zip(("né.txt", b"x"), ("ascii.txt", b"x"))
    # Without its flag, the name is read as code page 437.
    harmed = content.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00")
    with ZipFile(io.BytesIO(harmed)) as zip_file:
        assert paths(harmed) == zip_file.namelist()
