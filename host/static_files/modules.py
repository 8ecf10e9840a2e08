"""Join the modules of scripts, since each file costs a request, and small files compress badly.

`js/base.js`, which every page loads, takes in all modules that it needs, and shares them with
others. Any other module takes in the modules that only it imports.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping

BASE = "js/base.js"
# The formatter writes imports and exports in no other way.
IMPORT = re.compile(r'^import (?:(\* as \w+|\{[^}]*\}) from )?"(\.[^"]+)";\n', re.MULTILINE)
LAZY = re.compile(r'\bimport\("(\.[^"]+)"\)')
EXPORT = re.compile(r"^export (?=(?:(?:async )?function|class|const) (\w+))", re.MULTILINE)


class Modules:
    def __init__(self, sources: Mapping[str, str]) -> None:
        self.sources = sources
        self.shared = [*self.below(BASE)][:-1] if BASE in sources else []
        users = Counter(target for name in sources for target in self.imports(name))
        lazy = {at(name, path) for name in sources for path in LAZY.findall(sources[name])}
        alone = {name for name, count in users.items() if count == 1}
        self.inlined = alone - lazy - {BASE, *self.shared}

    def below(self, name: str) -> Iterator[str]:
        """Yield a module and what it imports, each after what it imports itself."""
        seen: set[str] = set()

        def walk(name: str) -> Iterator[str]:
            seen.add(name)
            for target in self.imports(name):
                if target not in seen:
                    yield from walk(target)
            yield name

        return walk(name)

    def imports(self, name: str) -> list[str]:
        targets = (at(name, path) for _what, path in IMPORT.findall(self.sources[name]))
        return [target for target in dict.fromkeys(targets) if target in self.sources]

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield the modules that browsers load, each with its new text."""
        for name in self.sources.keys() - {*self.shared} - self.inlined:
            yield name, File(self, name).text()


class File:
    """A file being built. Each module in it is a function, so that their names don't collide."""

    def __init__(self, modules: Modules, name: str) -> None:
        self.modules, self.name = modules, name
        self.others: dict[str, None] = {}
        self.shared: dict[str, None] = {}

    def text(self) -> str:
        shared = self.modules.shared if self.name == BASE else []
        parts = [f"export const {variable(name)} = {self.function(name)};\n" for name in shared]
        parts.append(self.body(self.name))
        return "".join([*self.imports(), *parts])

    def imports(self) -> Iterator[str]:
        for name in self.others:
            yield f'import * as {variable(name)} from "{self.path_to(name)}";\n'
        if self.shared and self.name != BASE:
            names = ", ".join(map(variable, self.shared))
            yield f'import {{ {names} }} from "{self.path_to(BASE)}";\n'

    def function(self, name: str) -> str:
        names = ", ".join(EXPORT.findall(self.modules.sources[name]))
        return f"(() => {{\n{EXPORT.sub('', self.body(name))}return {{ {names} }};\n}})()"

    def body(self, name: str) -> str:
        def replace(match: re.Match[str]) -> str:
            what, target = match[1], at(name, match[2])
            value = self.value_of(target)
            if what:
                return f"const {what.removeprefix('* as ').replace(' as ', ': ')} = {value};\n"
            return f"{value};\n" if target in self.modules.inlined else ""

        text = IMPORT.sub(replace, self.modules.sources[name])
        return LAZY.sub(lambda match: f'import("{self.path_to(at(name, match[1]))}")', text)

    def value_of(self, name: str) -> str:
        if name in self.modules.inlined:
            return self.function(name)
        used = self.shared if name in self.modules.shared else self.others
        used[name] = None
        return variable(name)

    def path_to(self, name: str) -> str:
        path = posixpath.relpath(name, posixpath.dirname(self.name))
        return path if path.startswith(".") else f"./{path}"


def at(name: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def variable(name: str) -> str:
    return re.sub(r"\W", "_", name.removesuffix(".js"))
