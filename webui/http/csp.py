"""Content security policies: each page allows only what it needs."""

WITHOUT_MEDIA = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; "
)
PAGE = f"{WITHOUT_MEDIA}media-src 'self'"
# hls.js passes the streams that it assembles to the browser as blob: URLs.
PLAYER = f"{WITHOUT_MEDIA}media-src 'self' blob:"
