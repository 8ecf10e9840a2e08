"""The CSRF check for requests whose bodies must not be read first.

Django's own check reads the whole form, and so a whole upload, before it reads the header.
"""

from io import BytesIO
from urllib.parse import urlencode

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware

TOKEN_FIELD = "csrfmiddlewaretoken"  # noqa: S105  A field's name.


def is_forged(request: HttpRequest, token: str) -> bool:
    """Run Django's own check, including cookies and origin, on a small form with this token."""
    form = urlencode({TOKEN_FIELD: token}).encode()
    probe = WSGIRequest(
        {
            **request.META,
            "CONTENT_TYPE": "application/x-www-form-urlencoded",
            "CONTENT_LENGTH": str(len(form)),
            "wsgi.input": BytesIO(form),
        }
    )
    probe.COOKIES = request.COOKIES
    is_exempt = getattr(request, "_dont_enforce_csrf_checks", False)
    probe._dont_enforce_csrf_checks = is_exempt  # type: ignore[attr-defined]  # noqa: SLF001
    check = Check(_nobody)
    check.process_request(probe)
    return check.process_view(probe, _nobody, (), {}) is not None


class Check(CsrfViewMiddleware):
    """Django's check, except that the view answers if it fails."""

    def _reject(self, _request: HttpRequest, _reason: str) -> HttpResponse:
        return HttpResponse(status=403)


def _nobody(_request: HttpRequest) -> HttpResponse:
    raise NotImplementedError
