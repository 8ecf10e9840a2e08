import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

from host.static_files.modules import Modules

IMPORT = re.compile(r'@import "([\w-]+\.css)";\n')
COMMENT = re.compile(r"\s*/\*.*?\*/", re.DOTALL)
# No selector and no value ends with a brace, a semicolon, or a comma. Elsewhere, a line end is a
# space: it may stand between two selectors.
LINE_END = re.compile(r"(?<=[{};,])\s*\n\s*|\s*\n\s*(?=})")
SPLIT = re.compile(r"\s*\n\s*")
# No script has a string of several lines, so indentation means nothing.
INDENTATION = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)
SCRIPT_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)

Paths = dict[str, tuple[Storage, str]]


class HashedModules(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """A storage that names every file by its content, including imports inside ES modules.

    A style sheet includes the ones it imports, which would be a request each. Comments and
    indentation are removed, also from our scripts, where they are an eighth of the bytes.
    """

    support_js_module_import_aggregation = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._urls: dict[str, str] = {}

    def url(self, name: str, force: bool = False) -> str:  # noqa: FBT001, FBT002  As Django calls it.
        """Return a URL, cached until the next collection: a page needs some thirty of them."""
        if name not in self._urls:
            self._urls[name] = super().url(name, force)
        return self._urls[name]

    def read_again(self) -> None:
        """Reload the manifest, which was empty if it was read before the collection."""
        self.hashed_files, self.manifest_hash = self.load_manifest()
        self._urls.clear()

    def post_process(self, paths: Paths, dry_run: bool = False, **options: Any) -> Iterator[Any]:  # noqa: FBT001, FBT002  As Django calls it.
        for name in [] if dry_run else [*paths]:
            text = text_to_send(paths, name)
            if text is not None:
                Path(self.path(name)).write_text(text, encoding="utf-8")
                paths[name] = self, name
        scripts = (
            {} if dry_run else {name: text_of(paths, name) for name in paths if is_script(name)}
        )
        for name, text in Modules(scripts).texts():
            Path(self.path(name)).write_text(text, encoding="utf-8")
        yield from super().post_process(paths, dry_run, **options)
        self._urls.clear()


def text_to_send(paths: Paths, name: str) -> str | None:
    """Return what browsers get instead of a source file of ours; None if they get the file."""
    if name.startswith("css/"):
        text = IMPORT.sub(lambda match: text_of(paths, f"css/{match[1]}"), text_of(paths, name))
        return SPLIT.sub(" ", LINE_END.sub("", COMMENT.sub("", text)))
    if not is_script(name):
        return None
    return INDENTATION.sub("", SCRIPT_COMMENT.sub("", text_of(paths, name)))


def is_script(name: str) -> bool:
    return name.startswith("js/") and name.endswith(".js")


def text_of(paths: Paths, name: str) -> str:
    """Read a source file: a collected one may already have its imports inlined."""
    storage, path = paths[name]
    with storage.open(path) as file:
        return str(file.read().decode())
