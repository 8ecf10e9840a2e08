"""What browsers may do with our pages: as little as each needs."""

WITHOUT_MEDIA = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; "
)
PAGE = f"{WITHOUT_MEDIA}media-src 'self'"
# hls.js hands the browser what it put together as an address of its own kind.
PLAYER = f"{WITHOUT_MEDIA}media-src 'self' blob:"
