"""The entries of a folder, and what their names say of their kind."""

from datetime import UTC, datetime
from typing import NamedTuple

FOLDER, FILE = "folder", "file"
ROOT = "0"
PICTURE_PIXELS = 220
OWN_PICTURE = "own"

KINDS = {
    "film": "mkv mp4 m4v avi mov webm wmv mpg mpeg ts m2ts vob flv ogv 3gp",
    "audio": "mp3 flac m4a m4b aac ogg oga opus wav wma aiff ape",
    "image": "jpg jpeg jpe jfif png gif webp avif bmp heic heif tif tiff svg",
    "captions": "srt vtt ass ssa sub idx",
    "text": "txt md nfo log pdf doc docx odt rtf epub html htm csv tsv json xml yaml yml toml",
    "archive": "zip rar 7z tar gz bz2 xz zst tgz iso",
}
KIND_OF = {extension: kind for kind, words in KINDS.items() for extension in words.split()}
PREVIEWS = {
    "video": KINDS["film"],
    "audio": KINDS["audio"],
    "picture": KINDS["image"],
    "subtitle": "srt vtt ass ssa",
    "markdown": "md markdown",
    "table": "csv tsv",
    "pdf": "pdf",
    "archive": "zip cbz jar apk",
    "text": "txt text nfo diz log sub sfv md5 sha1 sha256 m3u m3u8 pls cue rtf tex rst url",
    "code": (
        "py pyi js mjs cjs ts tsx jsx css scss less html htm xhtml xht xml xsl json json5 jsonl "
        "yaml yml toml ini cfg conf properties sh bash zsh fish bat cmd ps1 c h cc cpp cxx hpp cs "
        "java kt scala go rs rb php pl lua r swift dart sql diff patch vim el hs clj ex erl nix "
        "gradle groovy cmake proto graphql tf mht mhtml eml opf ipynb webmanifest map"
    ),
}
PREVIEW_OF = {extension: kind for kind, words in PREVIEWS.items() for extension in words.split()}
PREVIEW_OF_NAME = {
    **dict.fromkeys(("makefile", "dockerfile", "procfile", "gemfile", ".gitignore"), "code"),
    **dict.fromkeys(("readme", "license", "licence", "copying", "changelog", "authors"), "text"),
}
SHOWABLE = frozenset(["jpg", "jpeg", "jpe", "jfif", "png", "gif", "webp", "avif", "bmp", "svg"])
MOST_SHOWN_BYTES = 64 * 2**20
PICTURED = frozenset({"film", "image"})


class Entry(NamedTuple):
    """A row of a listing, as the cache keeps it for all processes: plain values only."""

    kind: str  # FOLDER or FILE
    id: str
    name: str
    size_bytes: int | None  # None if the service doesn't say
    added: int | None  # seconds since 1970
    hash: str = ""
    picture: str = ""  # the service's link to a thumbnail; OWN_PICTURE: request it by the id
    # 0 if the service doesn't say.
    duration_seconds: int = 0
    width: int = 0
    height: int = 0

    @property
    def key(self) -> str:
        return f"{self.kind}-{self.id}"

    @property
    def is_folder(self) -> bool:
        return self.kind == FOLDER

    @property
    def mark(self) -> str:
        """Return a version that changes with the content, so that caches may keep pictures forever.
        It only distinguishes versions of one file: whole hashes took up a quarter of a page."""
        return self.hash[:8] or f"{self.size_bytes or 0}-{self.added or 0}"

    @property
    def added_at(self) -> datetime | None:
        return None if self.added is None else datetime.fromtimestamp(self.added, UTC)

    @property
    def look(self) -> str:
        """Return film, audio, image, captions, text, archive, or an empty string."""
        return KIND_OF.get(self.extension, "")

    @property
    def extension(self) -> str:
        return split_name(self.name)[1][1:].lower()

    @property
    def preview(self) -> str:
        """Return video, audio, picture, subtitle, markdown, table, pdf, archive, text, code, or
        none."""
        known = PREVIEW_OF.get(self.extension)
        return known or PREVIEW_OF_NAME.get(self.name.lower(), "none")

    @property
    def is_showable_picture(self) -> bool:
        """Return whether browsers show the file itself, within reasonable time and memory."""
        return self.extension in SHOWABLE and (self.size_bytes or 0) <= MOST_SHOWN_BYTES


def split_name(name: str) -> tuple[str, str]:
    """Split a name into stem and extension. An extension has at most ten letters and digits."""
    stem, dot, extension = name.rpartition(".")
    if not stem or not extension or len(extension) > 10 or not extension.isalnum():
        return name, ""
    return stem, dot + extension
