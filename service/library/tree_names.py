"""Give every file of a torrent a unique name."""

from collections.abc import Iterator

from common.names import key_of
from service.library import names

Path = tuple[str, ...]
Keys = tuple[str, ...]


class TorrentTree:
    """The names of one torrent's files, cleaned, and unique as the library compares names.

    Folders whose cleaned names are equal become one, as on a disk. Files with the same name are
    numbered, and so is a file with the name of a folder.
    """

    def __init__(self, paths: list[Path], most_depth: int) -> None:
        """`most_depth`: how many names a path may have, including the file's."""
        self._paths = [self._shorten(path, most_depth) for path in paths]
        self._folder_of: dict[Keys, Path] = {(): ()}
        self._keys: set[Keys] = set()
        self._next: dict[Keys, int] = {}

    def paths(self) -> list[Path]:
        """Return the path of each file, in order."""
        folders = [self._folder(path[:-1]) for path in self._paths]
        return [
            self._take(folder, path[-1]) for folder, path in zip(folders, self._paths, strict=True)
        ]

    @staticmethod
    def _shorten(path: Path, most_depth: int) -> Path:
        """Clean a path. If it is too deep, drop folders nearest the file, never the file's name."""
        cleaned = tuple(names.clean(name, otherwise="_") for name in path) or ("_",)
        return cleaned if len(cleaned) <= most_depth else (*cleaned[: most_depth - 1], cleaned[-1])

    def _folder(self, path: Path) -> Path:
        """Return the path of a folder, as it was first spelled."""
        keys = tuple(map(key_of, path))
        for length in range(1, len(keys) + 1):
            above = keys[:length]
            if above not in self._folder_of:
                self._folder_of[above] = (*self._folder_of[above[:-1]], path[length - 1])
                self._keys.add(above)
        return self._folder_of[keys]

    def _take(self, folder: Path, name: str) -> Path:
        above = tuple(map(key_of, folder))
        for variant in self._variants(above, name):
            keys = (*above, key_of(variant))
            if keys not in self._keys:
                break
        self._keys.add(keys)
        return (*folder, variant)

    def _variants(self, above: Keys, name: str) -> Iterator[str]:
        """Yield names after the last number used, or the n-th equal name would try n numbers."""
        family = (*above, key_of(name))
        yield from () if family in self._next else (name,)
        number = self._next.get(family, 2)
        while True:
            self._next[family] = number + 1
            yield names.add_number(name, number, is_folder=False)
            number += 1
