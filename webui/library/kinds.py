"""What a file's name says about its kind, its icon, and its preview."""

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
UNPACKABLE = frozenset({"zip", "cbz"})
PICTURED = frozenset({"film", "image"})
ICONS = {
    "folder": "folder",
    "film": "film",
    "audio": "volume-2",
    "image": "image",
    "captions": "captions",
    "text": "file-text",
    "archive": "file-archive",
    "": "file",
}
