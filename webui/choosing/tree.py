"""The files of a torrent as a tree, and which of them a person chooses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from webui.library.kinds import KIND_OF
from webui.v1.own_records import TransferFile

# A form has a field for each file, and Django reads at most 12,000 fields.
MOST_LISTED = 10_000
# The names of deeper folders become parts of their files' names.
MOST_DEPTH = 10


@dataclass
class Branch:
    """A folder of a torrent; the root has no name."""

    name: str = ""
    folders: dict[str, "Branch"] = field(default_factory=dict)
    files: list[tuple[str, TransferFile]] = field(default_factory=list)


def tree_of(files: Sequence[TransferFile]) -> Branch:
    root = Branch()
    for file in files:
        *above, name = file.path.split("/", MOST_DEPTH)
        branch = root
        for part in above:
            branch = branch.folders.setdefault(part, Branch(part))
        branch.files.append((name, file))
    return root


def kind_of(file: TransferFile) -> str:
    return KIND_OF.get(file.path.rpartition(".")[2].lower(), "")


def is_marked(file: TransferFile, mark: str) -> bool:
    """Return whether a button chooses this file; without one, whether it is wanted so far."""
    if mark == "films":
        return kind_of(file) == "film"
    return mark == "all" or (mark != "none" and file.is_wanted)


def indexes_in_form(
    files: Sequence[TransferFile], fields: Collection[str], *, has_rest: bool
) -> set[int]:
    """Return the indexes that a form chooses. One box stands for all files without a row."""
    listed = {file.index for file in files[:MOST_LISTED] if str(file.index) in fields}
    return listed | {file.index for file in files[MOST_LISTED:] if has_rest}
