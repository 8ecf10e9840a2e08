"""Security headers of all responses, and content security policies of pages."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from webui.http.requests import Answer, middleware

WITHOUT_MEDIA = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "font-src 'self'; manifest-src 'self'; worker-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'; "
)
PAGE = f"{WITHOUT_MEDIA}media-src 'self'"
# hls.js passes the streams that it assembles to the browser as blob: URLs.
PLAYER = f"{WITHOUT_MEDIA}media-src 'self' blob:"
PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"
# Dropped from 204 responses, which are the most frequent and consist of headers only.
ABOUT_CONTENT = ("Content-Length", "Content-Language", "Vary")


@middleware
def set_headers(get_response: Answer, request: HttpRequest) -> HttpResponseBase:
    """Set security headers on all responses, and the content policies on documents."""
    response = get_response(request)
    headers = {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        # Back after signing out must show nothing private, and no proxy may cache it.
        "Cache-Control": "private, no-store",
    }
    if request.is_secure() and settings.HSTS_SECONDS:
        headers["Strict-Transport-Security"] = f"max-age={settings.HSTS_SECONDS}"
    if response.headers.get("Content-Type", "").startswith("text/html"):
        headers |= {"Content-Security-Policy": PAGE, "Permissions-Policy": PERMISSIONS}
        if request.is_secure():
            headers["Cross-Origin-Opener-Policy"] = "same-origin"
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    if response.status_code == 204:
        for name in ABOUT_CONTENT:
            response.headers.pop(name, None)
    return response
