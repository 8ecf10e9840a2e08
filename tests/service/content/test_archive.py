import hashlib
import io
import os
import subprocess
import sys
import tempfile
import time
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.content.archive import (
    READ_BYTES,
    Archive,
    ArchiveBroken,
    ArchiveFiles,
    ArchiveFolder,
    ArchivePlan,
    MissingFile,
    Step,
    write_plan,
)
from tests.cases import each_case
from tests.leftovers import in_use
from tests.service.content.test_download_names import ANY_NAME, HOSTILE
from tests.tools import program

MOMENT = datetime(2024, 5, 17, 12, 30, 44, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
GIB = 1 << 30


class OneFile(NamedTuple):
    name: str
    size_bytes: int
    crc32: int
    modified_at: datetime
    blob: str


class Tree(NamedTuple):
    """A folder with all that is in it."""

    name: str
    children: "Iterable[Node]"


Node = OneFile | ArchiveFiles | Tree | MissingFile


def steps_of(nodes: Iterable[Node]) -> Iterator[Step]:
    """Walk through nodes, depth first; without recursion, which trees may be too deep for."""
    stack = [iter(nodes)]
    while stack:
        for node in stack[-1]:
            yield Step(len(stack) - 1, item_of(node))
            if isinstance(node, Tree):
                stack.append(iter(node.children))
                break
        else:
            stack.pop()


def item_of(node: Node) -> ArchiveFiles | ArchiveFolder | MissingFile:
    if isinstance(node, OneFile):
        return columns([node])
    return ArchiveFolder(node.name, MOMENT) if isinstance(node, Tree) else node


class Shelf:
    """A store with blobs in memory, named by their content, and plans in the test's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs: dict[str, bytes] = {}
        self.opened: list[str] = []

    def file(self, name: str, content: bytes = b"", modified_at: datetime = MOMENT) -> OneFile:
        blob = hashlib.sha256(content).hexdigest()
        self.blobs[blob] = content
        return OneFile(name, len(content), zlib.crc32(content), modified_at, blob)

    def open_blob(self, blob: str) -> BinaryIO:
        self.opened.append(blob)
        if blob not in self.blobs:
            raise FileNotFoundError(blob)
        return io.BytesIO(self.blobs[blob])

    def plan(self, *nodes: Node) -> ArchivePlan:
        with (self.folder / "plan").open("wb") as target:
            return write_plan(steps_of(nodes), target, MOMENT)

    def archive(self, *nodes: Node) -> Archive:
        self.plan(*nodes)
        return Archive(self.folder / "plan", self.open_blob)

    def unzipped(self, *nodes: Node) -> dict[str, bytes]:
        with opened(self.archive(*nodes)) as unzipped:
            return {name: unzipped.read(name) for name in unzipped.namelist()}


class Download(io.RawIOBase):
    """An archive as a seekable file, read in ranges as some clients do."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self.place = 0

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self.place = offset + (0, self.place, self.archive.size_bytes)[whence]
        return self.place

    def read(self, size: int | None = -1) -> bytes:
        end = self.archive.size_bytes
        stop = end if size is None or size < 0 else min(end, self.place + size)
        part = b"".join(self.archive.read(self.place, stop))
        self.place = stop
        return part


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def tool() -> Callable[..., str]:
    return program


def folder(name: str, *children: Node) -> Tree:
    return Tree(name, children)


def whole(archive: Archive) -> bytes:
    return b"".join(archive.read())


def opened(archive: Archive) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(whole(archive)))


def run(*command: str, cwd: Path | None = None, **environment: str) -> str:
    done = finished(*command, cwd=cwd, **environment)
    assert done.returncode == 0, words_of(done)
    return done.stdout


def finished(
    *command: str, cwd: Path | None = None, **environment: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, "LC_ALL": "C.UTF-8", **environment},
    )


def words_of(done: "subprocess.CompletedProcess[str]") -> str:
    return done.stdout[-2000:] + done.stderr[-2000:]


def library(shelf: Shelf) -> tuple[Node, ...]:
    return (
        folder(
            "Films",
            shelf.file("Heat (1995).mkv", bytes(range(256)) * 3000),
            folder("Empty"),
            folder("日本", shelf.file("東京.txt", "こんにちは".encode()), shelf.file("zero")),
        ),
        shelf.file("notes.txt", b"remember the milk\n"),
        MissingFile("lost.bin"),
    )


# The layout


def test_every_file_and_folder_arrives_with_its_content(shelf: Shelf) -> None:
    assert shelf.unzipped(*library(shelf)[:2]) == {
        "Films/": b"",
        "Films/Heat (1995).mkv": bytes(range(256)) * 3000,
        "Films/Empty/": b"",
        "Films/日本/": b"",
        "Films/日本/東京.txt": "こんにちは".encode(),
        "Films/日本/zero": b"",
        "notes.txt": b"remember the milk\n",
    }


def test_the_length_and_count_are_known_before_any_content_is_read(shelf: Shelf) -> None:
    plan = shelf.plan(*library(shelf))
    archive = Archive(shelf.folder / "plan", shelf.open_blob)
    assert not shelf.opened
    assert plan.size_bytes == archive.size_bytes == len(whole(archive))
    assert plan.entry_count == archive.entry_count == 8
    assert plan.missing_count == 1


def test_an_empty_archive_is_an_archive(shelf: Shelf) -> None:
    assert shelf.unzipped() == {}


@pytest.mark.parametrize(
    "command",
    [("unzip", "-tqq"), ("bsdtar", "-tf"), ("7z", "t"), (sys.executable, "-m", "zipfile", "-t")],
)
def test_other_programs_accept_it(
    shelf: Shelf, tool: Callable[[str], str], command: tuple[str, ...]
) -> None:
    program = tool(command[0])
    path = shelf.folder / "archive.zip"
    hostile = (folder(name, shelf.file(name, name.encode("utf-8", "replace"))) for name in HOSTILE)
    path.write_bytes(whole(shelf.archive(*library(shelf), *hostile)))
    run(program, *command[1:], str(path))


@pytest.mark.parametrize("command", [("bsdtar", "-tf"), ("7z", "t")])
def test_other_programs_accept_an_empty_one(
    shelf: Shelf, tool: Callable[[str], str], command: tuple[str, ...]
) -> None:
    program = tool(command[0])
    path = shelf.folder / "archive.zip"
    path.write_bytes(whole(shelf.archive()))
    run(program, *command[1:], str(path))


@pytest.mark.parametrize("command", [("unzip", "-qq"), ("bsdtar", "-xf"), ("7z", "x")])
def test_other_programs_unpack_hostile_names_side_by_side(
    shelf: Shelf,
    tool: Callable[[str], str],
    command: tuple[str, ...],
) -> None:
    program = tool(command[0])
    files = [shelf.file(name, str(at).encode()) for at, name in enumerate([*HOSTILE, *HOSTILE])]
    path = shelf.folder / "archive.zip"
    path.write_bytes(whole(shelf.archive(*files)))
    target = shelf.folder / "unpacked"
    target.mkdir()
    run(program, *command[1:], str(path), cwd=target)
    assert sorted(int(path.read_bytes()) for path in target.iterdir()) == list(range(len(files)))


def test_headers_carry_size_and_crc_and_no_data_descriptor(shelf: Shelf) -> None:
    for info in opened(shelf.archive(shelf.file("a", b"123456789"))).infolist():
        assert (info.file_size, info.compress_size, info.CRC) == (9, 9, 0xCBF43926)
        assert info.flag_bits == 0x800
        assert info.compress_type == zipfile.ZIP_STORED


def test_folders_and_files_have_the_usual_permissions(shelf: Shelf) -> None:
    attributes = {
        info.filename: info.external_attr
        for info in opened(shelf.archive(folder("f", shelf.file("a")))).infolist()
    }
    assert attributes == {"f/": 0o40755 << 16 | 0x10, "f/a": 0o100644 << 16}


# Times


@each_case(
    ("modified_at", "dos", "seconds"),
    [
        (MOMENT, (2024, 5, 17, 12, 30, 44), int(MOMENT.timestamp())),
        (
            MOMENT.astimezone(timezone(timedelta(hours=9))),
            (2024, 5, 17, 12, 30, 44),
            int(MOMENT.timestamp()),
        ),
        (datetime(1975, 1, 1, tzinfo=UTC), (1980, 1, 1, 0, 0, 0), 157766400),
        (datetime(1, 1, 1, tzinfo=UTC), (1980, 1, 1, 0, 0, 0), 0),
        (datetime(9999, 12, 31, tzinfo=UTC), (2038, 1, 19, 3, 14, 6), 2**31 - 1),
    ],
)
def test_times_are_in_utc_and_within_what_a_zip_can_hold(
    shelf: Shelf, modified_at: datetime, dos: tuple[int, ...], seconds: int
) -> None:
    (info,) = opened(shelf.archive(shelf.file("a", b"", modified_at))).infolist()
    assert info.date_time == dos
    assert info.extra == b"UT\5\0\1" + seconds.to_bytes(4, "little")


def test_unzip_restores_the_time_in_any_zone(shelf: Shelf, tool: Callable[[str], str]) -> None:
    unzip = tool("unzip")
    path = shelf.folder / "archive.zip"
    path.write_bytes(whole(shelf.archive(shelf.file("a"))))
    run(unzip, "-qq", str(path), "-d", str(shelf.folder), TZ="Asia/Tokyo")
    assert (shelf.folder / "a").stat().st_mtime == MOMENT.timestamp()


# Names


def test_two_folders_of_one_name_keep_their_own_content(shelf: Shelf) -> None:
    first = folder("Films", shelf.file("Heat", b"1"), folder("Extras", shelf.file("cut", b"2")))
    second = folder("films", shelf.file("Heat", b"3"), folder("Extras", shelf.file("cut", b"4")))
    contents = shelf.unzipped(first, second)
    assert {name: content for name, content in contents.items() if content} == {
        "Films/Heat": b"1",
        "Films/Extras/cut": b"2",
        "films (2)/Heat": b"3",
        "films (2)/Extras/cut": b"4",
    }


def test_a_file_and_a_folder_of_one_name_stay_apart(shelf: Shelf) -> None:
    contents = shelf.unzipped(shelf.file("a.b", b"1"), folder("A.B", shelf.file("x", b"2")))
    assert contents == {"a.b": b"1", "A.B (2)/": b"", "A.B (2)/x": b"2"}


def test_folders_too_deep_to_unpack_move_to_the_root_with_what_is_in_them(shelf: Shelf) -> None:
    node: Node = shelf.file("treasure.txt", b"gold")
    for depth in range(200):
        node = folder(f"{depth} " + "long" * 50, node)
    contents = shelf.unzipped(node)
    assert len(contents) == 201
    assert max(len(name.encode()) for name in contents) <= 3_500
    assert [name.split("/")[-1] for name, content in contents.items() if content] == [
        "treasure.txt"
    ]
    assert all(str(PurePosixPath(name).parent) + "/" in {"./", *contents} for name in contents)


@pytest.mark.slow
def test_a_tree_of_five_thousand_levels_is_walked(shelf: Shelf) -> None:
    node: Node = shelf.file("bottom", b"x")
    for _ in range(5_000):
        node = folder("d", node)
    contents = shelf.unzipped(node)
    assert len(contents) == 5_001
    assert next(name for name in contents if name.endswith("bottom"))


def trees(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[Node]]:
    contents = st.binary(max_size=40)
    files: st.SearchStrategy[Node] = st.builds(built_file, names, contents)
    return st.lists(st.recursive(files, partial(folders_of, names), max_leaves=12), max_size=6)


def built_file(name: str, content: bytes) -> Node:
    return Shelf(Path()).file(name, content)


def folders_of(
    names: st.SearchStrategy[str], children: st.SearchStrategy[Node]
) -> st.SearchStrategy[Node]:
    return st.builds(Tree, names, st.lists(children, max_size=4))


def tidy(path: str) -> str:
    return unicodedata.normalize("NFD", path.rstrip("/").casefold())


PLAIN_OR_HOSTILE = st.one_of(st.sampled_from(["a", "A", "a.txt", "A (2)"]), ANY_NAME)


@pytest.mark.slow
@given(trees(PLAIN_OR_HOSTILE))
def test_no_path_escapes_or_meets_another(shelf: Shelf, nodes: list[Node]) -> None:
    archive = without_content(shelf, nodes)
    names = opened(archive).namelist()
    assert len({tidy(name) for name in names}) == len(names)
    for name in names:
        assert not name.startswith("/")
        assert not {"", ".", ".."} & set(name.removesuffix("/").split("/"))
        assert "\\" not in name


@pytest.mark.slow
@given(trees(PLAIN_OR_HOSTILE))
def test_every_path_has_its_folder_before_it(shelf: Shelf, nodes: list[Node]) -> None:
    seen = {"."}
    for name in opened(without_content(shelf, nodes)).namelist():
        assert str(PurePosixPath(name).parent) in seen
        seen.add(str(PurePosixPath(name)))


@pytest.mark.slow
@given(trees(PLAIN_OR_HOSTILE))
def test_nothing_is_lost_whatever_its_name(shelf: Shelf, nodes: list[Node]) -> None:
    expected = sorted((file.crc32, file.size_bytes) for file in files_in(nodes))
    infos = opened(without_content(shelf, nodes)).infolist()
    assert sorted((info.CRC, info.file_size) for info in infos if not info.is_dir()) == expected


def without_content(shelf: Shelf, nodes: list[Node]) -> Archive:
    """Return an archive with dummy content, for tests that read only its directory."""
    shelf.blobs = {file.blob: b"-" * file.size_bytes for file in files_in(nodes)}
    return shelf.archive(*nodes)


def files_in(nodes: Iterable[Node]) -> Iterator[OneFile]:
    for node in nodes:
        if isinstance(node, OneFile):
            yield node
        elif isinstance(node, Tree):
            yield from files_in(node.children)


@pytest.mark.slow
@given(st.lists(st.builds(built_file, PLAIN_OR_HOSTILE, st.binary(max_size=40))), st.data())
def test_files_in_columns_are_planned_as_one_after_the_other(
    shelf: Shelf, files: list[OneFile], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(files)))
    in_turn = shelf.plan(folder("f", *files))
    assert shelf.plan(folder("f", columns(files[:cut]), columns(files[cut:]))) == in_turn


def columns(files: list[OneFile]) -> ArchiveFiles:
    return ArchiveFiles(
        [file.name for file in files],
        [file.size_bytes for file in files],
        [file.crc32 for file in files],
        [file.modified_at for file in files],
        [file.blob for file in files],
    )


# Ranges


@pytest.mark.slow
def test_any_range_of_a_small_archive_equals_that_slice_of_the_whole(shelf: Shelf) -> None:
    archive = shelf.archive(
        folder("f", shelf.file("a", b"12345"), shelf.file("b")), MissingFile("m")
    )
    content = whole(archive)
    for start in range(len(content) + 1):
        for stop in range(start, len(content) + 1, 7):
            assert b"".join(archive.read(start, stop)) == content[start:stop]
        assert b"".join(archive.read(start)) == content[start:]


@pytest.mark.slow
@given(st.data())
def test_any_range_equals_that_slice_of_the_whole(shelf: Shelf, data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.sampled_from([0, 1, 4096, 200_000, 262_144, 600_000])))
    files = [shelf.file(f"{size}", os.urandom(1) * size) for size in sizes]
    archive = shelf.archive(*files, folder("f", *files))
    content = whole(archive)
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, len(content)))
    assert b"".join(archive.read(start, stop)) == content[start:stop]


ZEROS = bytes(READ_BYTES)


class Nothing(io.RawIOBase):
    """A blob of zeros, of any size, that takes no space."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.size_bytes + offset if whence == os.SEEK_END else offset

    def read(self, size: int = -1) -> bytes:
        return ZEROS if size == len(ZEROS) else bytes(size)


EDGES = [(1 << 32) + step for step in (-200, -70, -2, -1, 0, 1)]
SIZES = st.sampled_from([0, 1, *EDGES, 5 * GIB, 1 << 45]) | st.integers(0, 1 << 33)


@pytest.mark.slow
@given(sizes=st.lists(SIZES, max_size=9), names=st.lists(PLAIN_OR_HOSTILE, min_size=9, max_size=9))
def test_files_of_any_size_are_where_the_directory_says(
    tmp_path: Path, sizes: list[int], names: list[str]
) -> None:
    """Three places in an archive switch to ZIP64, each at a different byte."""
    files = [
        OneFile(name, size, 0, MOMENT, f"{size}") for name, size in zip(names, sizes, strict=False)
    ]
    with (tmp_path / "plan").open("wb") as target:
        plan = write_plan(steps_of([folder("f", *files)]), target, MOMENT)
    archive = Archive(tmp_path / "plan", lambda blob: Nothing(int(blob)))
    with zipfile.ZipFile(Download(archive)) as unzipped:
        infos = [info for info in unzipped.infolist() if not info.is_dir()]
        assert [info.file_size for info in infos] == [file.size_bytes for file in files]
        for info in infos:
            unzipped.open(info).close()  # reads the local header, and compares the name
        local = [info.header_offset for info in unzipped.infolist()]
        ends = [*local[1:], unzipped.start_dir]
        for info, end in zip(unzipped.infolist(), ends, strict=True):
            header = b"".join(archive.read(info.header_offset, info.header_offset + 30))
            behind = sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
            assert info.header_offset + 30 + behind + info.file_size == end
    assert plan.size_bytes == archive.size_bytes


@pytest.mark.slow
def test_ranges_of_ten_thousand_entries_equal_those_slices(shelf: Shelf) -> None:
    archive = shelf.archive(*(file_of(shelf, at) for at in range(10_000)))
    content = whole(archive)
    for start in range(0, len(content), len(content) // 200):
        stop = min(start + 1_000, len(content))
        assert b"".join(archive.read(start, stop)) == content[start:stop]


@each_case(("start", "stop"), [(-1, 5), (5, 4), (0, 1_000_000), (1_000_000, None)])
def test_a_range_that_is_not_there_is_refused_at_once(
    shelf: Shelf, start: int, stop: int | None
) -> None:
    archive = shelf.archive(shelf.file("a", b"12345"))
    with pytest.raises(ValueError, match="No bytes"):
        archive.read(start, stop)


def test_small_files_come_in_large_chunks(shelf: Shelf) -> None:
    archive = shelf.archive(*(shelf.file(f"{at}", bytes(4096)) for at in range(200)))
    sizes = [len(chunk) for chunk in archive.read()]
    assert min(sizes[:-1]) >= 128 * 1024
    assert max(sizes) < 512 * 1024


def test_only_the_blobs_of_a_range_are_opened(shelf: Shelf) -> None:
    files = [shelf.file(f"{at}", bytes([at]) * 1000) for at in range(100)]
    archive = shelf.archive(*files)
    place = whole(archive).index(bytes([50]) * 10)
    shelf.opened.clear()
    b"".join(archive.read(place + 10, place + 20))
    assert shelf.opened == [files[50].blob]


def test_two_readers_do_not_disturb_each_other(shelf: Shelf) -> None:
    archive = shelf.archive(*(shelf.file(f"{at}", os.urandom(90_000)) for at in range(9)))
    content = whole(archive)
    pairs = list(zip(archive.read(), archive.read(), strict=True))
    assert b"".join(first for first, _ in pairs) == content
    assert b"".join(second for _, second in pairs) == content


# The tag


def test_the_same_selection_has_the_same_strong_tag(shelf: Shelf) -> None:
    first, second = shelf.plan(*library(shelf)), shelf.plan(*library(shelf))
    assert first == second
    assert first.etag == Archive(shelf.folder / "plan", shelf.open_blob).etag
    assert first.etag[0] == first.etag[-1] == '"'
    assert int(first.etag[1:-1], 16)


def test_other_content_of_the_same_name_and_size_has_another_tag(shelf: Shelf) -> None:
    first = shelf.plan(shelf.file("a", b"1"))
    second = shelf.plan(shelf.file("a", b"2"))
    assert first.size_bytes == second.size_bytes
    assert first.etag != second.etag


# Missing and broken files


def test_missing_files_are_listed_by_their_paths(shelf: Shelf) -> None:
    nodes = (
        shelf.file("missing.TXT", b"mine"),
        folder("Films", MissingFile("Hea\nt.mkv")),
        folder("films", MissingFile("élan.mkv")),
        MissingFile("../x"),
    )
    contents = shelf.unzipped(*nodes)
    assert contents["missing.TXT"] == b"mine"
    heading, *paths = contents["MISSING (2).txt"].decode().split("\n\n")
    assert "not in this archive" in heading
    assert paths == ["Films/Hea_t.mkv\nfilms (2)/élan.mkv\n.._x\n"]


def test_an_archive_with_nothing_missing_has_no_list(shelf: Shelf) -> None:
    assert "MISSING.txt" not in shelf.unzipped(shelf.file("a"))
    assert "MISSING.txt" in shelf.unzipped(shelf.file("a"), MissingFile("b"))


def test_a_list_of_missing_files_of_any_length_can_be_read_in_ranges(shelf: Shelf) -> None:
    archive = shelf.archive(*(MissingFile(f"{at:0100}") for at in range(20_000)))
    content = whole(archive)
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    assert b"".join(archive.read(700_001, 1_500_000)) == content[700_001:1_500_000]


@each_case("content", [None, b"", b"12345678", b"1234567890"])
def test_a_missing_or_resized_blob_breaks_the_archive(shelf: Shelf, content: bytes | None) -> None:
    file = shelf.file("a", b"123456789")
    archive = shelf.archive(shelf.file("before", bytes(300_000)), file)
    assert whole(archive)
    del shelf.blobs[file.blob]
    if content is not None:
        shelf.blobs[file.blob] = content
    with pytest.raises(ArchiveBroken):
        whole(archive)


def test_a_blob_that_shrinks_while_it_is_read_breaks_the_archive(tmp_path: Path) -> None:
    archive, blob = archive_of_one(tmp_path, bytes(2_000_000))
    chunks = archive.read()
    next(chunks)
    os.truncate(blob, 1_000_000)
    with pytest.raises(ArchiveBroken, match="lost its last"):
        list(chunks)


def test_a_blob_that_grows_while_it_is_read_gives_what_it_had(tmp_path: Path) -> None:
    archive, blob = archive_of_one(tmp_path, bytes(2_000_000))
    chunks = archive.read()
    content = next(chunks)
    with blob.open("ab") as file:
        file.write(b"more")
    content += b"".join(chunks)
    assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None


def archive_of_one(tmp_path: Path, content: bytes) -> tuple[Archive, Path]:
    shelf = Shelf(tmp_path)
    file = shelf.file("a", content)
    (tmp_path / file.blob).write_bytes(content)
    shelf.plan(file)
    return Archive(tmp_path / "plan", on_disk(tmp_path)), tmp_path / file.blob


def on_disk(folder: Path) -> Callable[[str], BinaryIO]:
    return lambda blob: (folder / blob).open("rb", buffering=0)


def test_a_file_without_a_blob_is_refused(shelf: Shelf) -> None:
    with pytest.raises(ValueError, match="no blob"):
        shelf.plan(OneFile("a", 1, 0, MOMENT, ""))


@each_case("cut", [0, 1, 8, 100])
def test_a_plan_cut_short_is_refused(shelf: Shelf, cut: int) -> None:
    shelf.plan(*library(shelf))
    content = (shelf.folder / "plan").read_bytes()
    (shelf.folder / "plan").write_bytes(content[: cut and -cut])
    with pytest.raises(ArchiveBroken):
        Archive(shelf.folder / "plan", shelf.open_blob)


def test_a_plan_replaced_by_another_is_not_mixed_with_it(shelf: Shelf) -> None:
    archive = shelf.archive(shelf.file("a", b"1"))
    shelf.plan(shelf.file("a", b"2"))
    with pytest.raises(ArchiveBroken, match="replaced"):
        whole(archive)


def test_a_plan_that_was_removed_breaks_the_archive(shelf: Shelf) -> None:
    archive = shelf.archive(shelf.file("a", b"1"))
    (shelf.folder / "plan").unlink()
    with pytest.raises(ArchiveBroken):
        whole(archive)


# Costs


def test_downloads_given_up_leave_nothing_open(tmp_path: Path) -> None:
    archive, _ = archive_of_one(tmp_path, bytes(2_000_000))
    before = in_use()
    unfinished = []
    for _ in range(500):
        chunks = archive.read(1_000)
        assert len(next(chunks)) >= 1_000
        chunks.close()
        unfinished += [chunks, archive.read()]
    assert in_use() <= before


def test_a_broken_download_leaves_nothing_open(tmp_path: Path) -> None:
    archive, blob = archive_of_one(tmp_path, bytes(2_000_000))
    os.truncate(blob, 5)
    before = in_use()
    for _ in range(10):
        with pytest.raises(ArchiveBroken):
            whole(archive)
    assert in_use() <= before


def test_one_blob_is_open_at_a_time(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    files = [shelf.file(f"{at}", bytes([at]) * 300_000) for at in range(5)]
    for blob, content in shelf.blobs.items():
        (tmp_path / blob).write_bytes(content)
    shelf.plan(*files)
    before = open_files()
    archive = Archive(tmp_path / "plan", on_disk(tmp_path))
    assert max(open_files() for _ in archive.read()) <= before + 2


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.promise("a large archive starts soon")
@pytest.mark.slow
def test_ten_thousand_entries_start_soon(shelf: Shelf) -> None:
    nodes = [folder(f"{at}", *(file_of(shelf, at) for at in range(100))) for at in range(100)]
    started = time.thread_time()
    next(shelf.archive(*nodes).read())
    # The aim is 50 ms, which lab/bench measures; this bound is for a slow machine.
    assert time.thread_time() - started < 1


def file_of(shelf: Shelf, number: int) -> OneFile:
    return shelf.file(f"File {number}.txt", b"content")


def test_children_are_requested_when_their_turn_comes(shelf: Shelf) -> None:
    opened: list[str] = []

    def children(name: str) -> Iterator[Node]:
        opened.append(name)
        yield shelf.file("a", name.encode())

    nodes = (Tree(name, children(name)) for name in ("one", "two"))
    assert list(shelf.unzipped(*nodes)) == ["one/", "one/a", "two/", "two/a"]
    assert opened == ["one", "two"]


MEASURED = """
import io, sys
from datetime import UTC, datetime
from pathlib import Path
from service.content.archive import Archive, ArchiveFiles, Step, write_plan

moment = datetime(2024, 1, 1, tzinfo=UTC)
plan = Path(sys.argv[1])
if sys.argv[2] == "plan":
    names = ((f"File {at}.txt", f"{at:064}") for at in range(200_000))
    columns = (([name], [4], [0xADF3F363], [moment], [blob]) for name, blob in names)
    with plan.open("wb") as target:
        write_plan((Step(0, ArchiveFiles(*each)) for each in columns), target, moment)
else:
    assert sum(map(len, Archive(plan, lambda blob: io.BytesIO(b"data")).read())) > 20_000_000
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024)
"""


@pytest.mark.slow
def test_two_hundred_thousand_entries_take_little_memory(tmp_path: Path) -> None:
    measured = partial(resident_mib, tmp_path / "plan")
    assert measured("plan") < 32
    assert measured("stream") < 32


def resident_mib(plan: Path, what: str) -> int:
    command = [sys.executable, "-c", MEASURED, str(plan), what]
    return int(subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout)


# ZIP64


@pytest.mark.slow
def test_more_entries_than_sixteen_bits_can_count(shelf: Shelf) -> None:
    nodes = [shelf.file(f"{at}") for at in range(65_540)]
    content = whole(shelf.archive(*nodes))
    assert content[-22:-10] == b"PK\5\6\0\0\0\0\xff\xff\xff\xff"
    assert len(zipfile.ZipFile(io.BytesIO(content)).namelist()) == 65_540


@pytest.mark.parametrize(("count", "locators"), [(65_534, 0), (65_535, 1)])
@pytest.mark.slow
def test_the_count_decides_the_form_of_the_tail(shelf: Shelf, count: int, locators: int) -> None:
    archive = shelf.archive(*(shelf.file(f"{at}") for at in range(count)))
    content = whole(archive)
    assert content.count(b"PK\6\7") == locators
    assert len(zipfile.ZipFile(io.BytesIO(content)).namelist()) == count


@pytest.mark.slow
def test_other_programs_accept_seventy_thousand_entries(
    shelf: Shelf, tool: Callable[[str], str]
) -> None:
    path = shelf.folder / "archive.zip"
    path.write_bytes(whole(shelf.archive(*(shelf.file(f"{at}", b"x") for at in range(70_000)))))
    refusals = {}
    for name, option in (("unzip", "-tqq"), ("bsdtar", "-tf"), ("7z", "t")):
        done = finished(tool(name), option, str(path))
        if done.returncode:
            refusals[name] = words_of(done)
    assert not refusals


@each_case("size", [2**32 - 2, 2**32 - 1, 2**32, 5 * GIB])
def test_entries_around_and_over_four_gibibytes(tmp_path: Path, size: int) -> None:
    archive = with_sparse_file(tmp_path, size, crc=0)
    unzipped = zipfile.ZipFile(Download(archive))
    assert [(info.filename, info.file_size) for info in unzipped.infolist()] == [
        ("large", size),
        ("after/", 0),
        ("after/small", 5),
    ]
    assert unzipped.read("after/small") == b"hello"
    with unzipped.open("large") as large:
        assert large.read(5) == bytes(5)
    directory = b"".join(archive.read(unzipped.start_dir))
    assert unzipped.start_dir + len(directory) == archive.size_bytes
    # Programs that unpack a stream rely on this header alone.
    header = b"".join(archive.read(0, 30))
    behind = sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
    assert 30 + behind + size == unzipped.getinfo("after/").header_offset


def test_ranges_across_the_edges_of_a_file_of_five_gibibytes(tmp_path: Path) -> None:
    archive = with_sparse_file(tmp_path, 5 * GIB, crc=0)
    end = zipfile.ZipFile(Download(archive)).getinfo("after/").header_offset
    tail = b"".join(archive.read(end - 5))
    assert tail.startswith(bytes(5) + b"PK\3\4")
    assert len(tail) == archive.size_bytes - end + 5
    assert b"".join(archive.read(3 * GIB, 3 * GIB + 9)) == bytes(9)


@pytest.mark.promise("other programs read our archives")
@pytest.mark.slow
def test_other_programs_accept_an_archive_over_four_gibibytes(
    over_four_gibibytes: Path, tool: Callable[[str], str]
) -> None:
    """7z reads the whole archive and checks every CRC.

    unzip would need half a minute of CPU time for that, so it lists the sizes, opens the large
    entry, and checks the one that starts beyond 4 GiB.
    """
    path = str(over_four_gibibytes)
    run(tool("bsdtar"), "-tf", path)
    run(tool("7z"), "t", path)
    unzip = tool("unzip")
    rows = [line.split() for line in run(unzip, "-l", path).splitlines()]
    assert [row[0] for row in rows if row[-1:] == ["large"]] == [str(LARGE_BYTES)]
    run(unzip, "-tqq", path, "after/*")
    with subprocess.Popen([unzip, "-p", path, "large"], stdout=subprocess.PIPE) as reading:
        assert reading.stdout is not None
        assert reading.stdout.read(2**20) == bytes(2**20)
        reading.kill()


LARGE_BYTES = 4 * GIB + 5
# The CRC of as many zeros, which takes a second to compute. 7z checks it.
LARGE_CRC = 0xB1C2A1A3


@pytest.fixture
def over_four_gibibytes() -> Iterator[Path]:
    # Use a folder in memory if there is one: reading a hole on a disk fills the page cache with
    # 4 GiB of zeros, which takes five times as long.
    in_memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=in_memory if in_memory.is_dir() else None) as name:
        home = Path(name)
        with_sparse_file(home, LARGE_BYTES, LARGE_CRC)
        disk = on_disk(home)
        archive = Archive(
            home / "plan", lambda blob: Nothing(LARGE_BYTES) if blob == "zeros" else disk(blob)
        )
        write_sparsely(archive, home / "archive.zip")
        yield home / "archive.zip"


def with_sparse_file(tmp_path: Path, size: int, crc: int) -> Archive:
    (tmp_path / "zeros").touch()
    os.truncate(tmp_path / "zeros", size)
    (tmp_path / "hello").write_bytes(b"hello")
    small = OneFile("small", 5, zlib.crc32(b"hello"), MOMENT, "hello")
    with (tmp_path / "plan").open("wb") as target:
        nodes: list[Node] = [
            OneFile("large", size, crc, MOMENT, "zeros"),
            folder("after", small),
        ]
        write_plan(steps_of(nodes), target, MOMENT)
    return Archive(tmp_path / "plan", on_disk(tmp_path))


def write_sparsely(archive: Archive, path: Path) -> None:
    with path.open("wb") as file:
        for chunk in archive.read():
            if chunk == ZEROS:
                file.seek(len(chunk), os.SEEK_CUR)
            else:
                file.write(chunk)
    assert path.stat().st_size == archive.size_bytes
