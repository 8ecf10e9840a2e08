"""Is Ferry alive, and is each of its parts ready?"""

from collections.abc import Callable

from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webui.models import User
from webui.roles import open_to_strangers

Check = Callable[[], str | None]
"""Says what is wrong in a few words, or nothing."""


def database() -> str | None:
    try:
        User.objects.exists()
    except DatabaseError:
        return "The database does not answer."
    return None


CHECKS: dict[str, Check] = {"database": database}


@never_cache
@require_safe
@open_to_strangers
def alive(request: HttpRequest) -> HttpResponse:
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
@open_to_strangers
def ready(request: HttpRequest) -> JsonResponse:
    troubles = {name: check() for name, check in CHECKS.items()}
    parts = {name: trouble or "ready" for name, trouble in troubles.items()}
    is_ready = not any(troubles.values())
    return JsonResponse({"ready": is_ready, "parts": parts}, status=200 if is_ready else 503)
