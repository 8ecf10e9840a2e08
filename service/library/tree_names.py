"""Give every file of a torrent a name of its own."""

from collections.abc import Iterator

from service.library import names

Path = tuple[str, ...]
Keys = tuple[str, ...]


class TorrentTree:
    """The names of one torrent's files, cleaned, and apart as the library tells names apart.

    Folders whose cleaned names are equal become one, as they would be on a disk; two files of one
    name are numbered, as is a file whose name a folder has.
    """

    def __init__(self, paths: list[Path], most_depth: int) -> None:
        """`most_depth`: so many names a path may have, that of the file included."""
        self._paths = [self._shortened(path, most_depth) for path in paths]
        self._folder_of: dict[Keys, Path] = {(): ()}
        self._taken: set[Keys] = set()
        self._next: dict[Keys, int] = {}

    def paths(self) -> list[Path]:
        """Of each file in order."""
        folders = [self._folder(path[:-1]) for path in self._paths]
        return [
            self._take(folder, path[-1]) for folder, path in zip(folders, self._paths, strict=True)
        ]

    @staticmethod
    def _shortened(path: Path, most_depth: int) -> Path:
        """Too deep a file loses the folders next to it, never its name."""
        cleaned = tuple(names.clean(name, otherwise="_") for name in path) or ("_",)
        return cleaned if len(cleaned) <= most_depth else (*cleaned[: most_depth - 1], cleaned[-1])

    def _folder(self, path: Path) -> Path:
        """Spelled as it was first."""
        keys = tuple(map(names.key_of, path))
        for length in range(1, len(keys) + 1):
            above = keys[:length]
            if above not in self._folder_of:
                self._folder_of[above] = (*self._folder_of[above[:-1]], path[length - 1])
                self._taken.add(above)
        return self._folder_of[keys]

    def _take(self, folder: Path, name: str) -> Path:
        above = tuple(map(names.key_of, folder))
        for variant in self._variants(above, name):
            keys = (*above, names.key_of(variant))
            if keys not in self._taken:
                break
        self._taken.add(keys)
        return (*folder, variant)

    def _variants(self, above: Keys, name: str) -> Iterator[str]:
        """Begins where the last twin ended, or the n-th would try n numbers."""
        family = (*above, names.key_of(name))
        yield from () if family in self._next else (name,)
        number = self._next.get(family, 2)
        while True:
            self._next[family] = number + 1
            yield names.numbered(name, number, is_folder=False)
            number += 1
