"""Types of files that can't run anything, and what browsers may do with what they show."""

UNKNOWN = "application/octet-stream"
PLAIN = "text/plain; charset=utf-8"
PDF = "application/pdf"
ZIP = "application/zip"
# Types that can't run anything. All others are served as bytes to save.
SAFE_TYPES = {
    **dict.fromkeys(("jpg", "jpeg", "jpe", "jfif"), "image/jpeg"),
    "png": "image/png",
    "apng": "image/apng",
    "gif": "image/gif",
    "webp": "image/webp",
    "avif": "image/avif",
    "bmp": "image/bmp",
    "ico": "image/x-icon",
    "mp3": "audio/mpeg",
    **dict.fromkeys(("m4a", "m4b"), "audio/mp4"),
    "aac": "audio/aac",
    **dict.fromkeys(("ogg", "oga", "opus"), "audio/ogg"),
    "flac": "audio/flac",
    "wav": "audio/wav",
    **dict.fromkeys(("mp4", "m4v"), "video/mp4"),
    "webm": "video/webm",
    "mkv": "video/x-matroska",
    "mov": "video/quicktime",
    "ogv": "video/ogg",
    **dict.fromkeys(("txt", "log", "md", "nfo", "csv", "srt", "ass", "vtt"), PLAIN),
    "pdf": PDF,
    "zip": ZIP,
}

LOCKED = "sandbox; default-src 'none'"
# The browser's built-in viewers are documents too, which load the file itself, and style it.
VIEWER = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'"
# Chromium shows no PDF under default-src 'none': its viewer counts as a plugin.
PDF_VIEWER = "sandbox; script-src 'none'; connect-src 'none'; form-action 'none'"
