"""Is Ferry alive, and is each of its parts ready?"""

import threading
import time
from collections.abc import Callable

from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from service.models import Worker
from webui import connection as site
from webui.models import User
from webui.roles import open_to_strangers
from webui.v1.errors import Failure

Check = Callable[[], str | None]
"""Says what is wrong in a few words, or nothing."""


def database() -> str | None:
    try:
        User.objects.exists()
    except DatabaseError:
        return "The database does not answer."
    return None


SERVICE_SECONDS = 10
_service_lock = threading.Lock()
_service_known: tuple[float, str | None] = (float("-inf"), None)


def service() -> str | None:
    """Whether the storage service answers, asked at most every ten seconds in each process."""
    global _service_known  # noqa: PLW0603  Remembered for all who ask this process.
    with _service_lock:
        asked_at, trouble = _service_known
        if time.monotonic() - asked_at > SERVICE_SECONDS:
            trouble = _service_trouble()
            _service_known = (time.monotonic(), trouble)
        return trouble


def _service_trouble() -> str | None:
    try:
        site.service().v1.account()
    except Failure as failure:
        return f"The storage service does not answer: {failure.reason}."
    except DatabaseError:
        return "The connection can't be looked up."
    return None


def worker() -> str | None:
    """Whether transfers go on. Pages are well without it."""
    if not site.is_embedded():
        return None
    try:
        alive = Worker.objects.filter(alive_until__gt=timezone.now())
        if not alive.exists():
            return "No worker runs: transfers wait."
        if not alive.filter(is_engine_alive=True).exists():
            return "The engine does not answer: torrents wait."
    except DatabaseError:
        return "The worker can't be looked up."
    return None


CHECKS: dict[str, Check] = {"database": database, "service": service}
# These are told, and make nothing else unready.
TOLD: dict[str, Check] = {"worker": worker}


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
    told = {name: check() for name, check in TOLD.items()}
    parts = {name: trouble or "ready" for name, trouble in (troubles | told).items()}
    is_ready = not any(troubles.values())
    return JsonResponse({"ready": is_ready, "parts": parts}, status=200 if is_ready else 503)
