"""Join the modules of scripts, since each file costs a request, and small files compress badly.

`js/base.js`, which every page loads, takes in all modules that it needs, and shares them with
others. Any other file takes in the modules that no other needs.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

BASE = "js/base.js"
# The formatter writes imports and exports in no other way.
IMPORT = re.compile(r'^import (?:(\* as \w+|\{[^}]*\}) from )?"(\.[^"]+)";\n', re.MULTILINE)
LAZY = re.compile(r'\bimport\("(\.[^"]+)"\)')
EXPORT = re.compile(r"^export (?=(?:(?:async )?function|class|const) (\w+))", re.MULTILINE)


class Modules:
    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        self.ordered = [*self.each_after_its_imports()]
        shared = self.ordered[: self.ordered.index(BASE) + 1] if BASE in sources else []
        lazy = {at(name, path) for name in sources for path in LAZY.findall(sources[name])}
        importers: dict[str, set[str]] = {name: set() for name in sources}
        self.file_of = dict.fromkeys(shared, BASE)
        # In reverse, the files of all that import a module are known before its own.
        for name in reversed(self.ordered):
            files = {self.file_of[importer] for importer in importers[name]}
            only = files.pop() if len(files) == 1 and name not in lazy else name
            self.file_of.setdefault(name, only)
            for target in self.imports(name):
                importers[target].add(name)

    def each_after_its_imports(self) -> Iterator[str]:
        """Yield all modules. The base comes first, with what it needs."""
        seen: set[str] = set()

        def walk(names: Iterable[str]) -> Iterator[str]:
            for name in names:
                if name not in seen and name in self.sources:
                    seen.add(name)
                    yield from walk(self.imports(name))
                    yield name

        return walk([BASE, *self.sources])

    def parts(self, name: str) -> list[str]:
        """Return the modules that a file takes in, each after what it imports itself."""
        return [each for each in self.ordered if self.file_of[each] == name and each != name]

    def imports(self, name: str) -> list[str]:
        targets = (at(name, path) for _what, path in IMPORT.findall(self.sources[name]))
        return [target for target in dict.fromkeys(targets) if target in self.sources]

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the modules that browsers load, each with its new text."""
        for name in set(self.file_of.values()):
            yield name, File(self, name).text()


class File:
    """A file being built. Each module in it is a function, so that their names don't collide."""

    def __init__(self, modules: Modules, name: str) -> None:
        self.modules, self.name = modules, name
        self.parts = modules.parts(name)
        self.others: dict[str, None] = {}
        self.shared: dict[str, None] = {}

    def text(self) -> str:
        export = "export " if self.name == BASE else ""
        parts = [
            f"{export}const {variable(part)} = {self.function(part)};\n" for part in self.parts
        ]
        parts.append(self.body(self.name))
        return "".join([*self.imports(), *parts])

    def imports(self) -> Iterator[str]:
        for name in self.others:
            yield f'import * as {variable(name)} from "{self.path_to(name)}";\n'
        if self.shared:
            names = ", ".join(map(variable, self.shared))
            yield f'import {{ {names} }} from "{self.path_to(BASE)}";\n'

    def function(self, name: str) -> str:
        names = ", ".join(EXPORT.findall(self.modules.sources[name]))
        return f"(() => {{\n{EXPORT.sub('', self.body(name))}return {{ {names} }};\n}})()"

    def body(self, name: str) -> str:
        def replace(match: re.Match[str]) -> str:
            what, target = match[1], at(name, match[2])
            self.use(target)
            names = what and what.removeprefix("* as ").replace(" as ", ": ")
            return f"const {names} = {variable(target)};\n" if names else ""

        text = IMPORT.sub(replace, self.modules.sources[name])
        return LAZY.sub(lambda match: f'import("{self.path_to(at(name, match[1]))}")', text)

    def use(self, name: str) -> None:
        if name not in self.parts:
            is_shared = self.modules.file_of[name] == BASE != name
            used = self.shared if is_shared else self.others
            used[name] = None

    def path_to(self, name: str) -> str:
        path = posixpath.relpath(name, posixpath.dirname(self.name))
        return path if path.startswith(".") else f"./{path}"


def at(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def variable(name: str) -> str:
    return re.sub(r"\W", "_", name.removesuffix(".js"))
