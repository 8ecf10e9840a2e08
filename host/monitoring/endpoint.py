"""Answer `/metrics` for clients that send the token."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from host.web import visitors
from webui.http.roles import open_to_strangers


@never_cache
@open_to_strangers("GET")
def metrics(request: HttpRequest) -> HttpResponse:
    if not settings.METRICS_TOKEN:
        raise Http404
    if not visitors.has_token(request):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    from host.monitoring import exposition  # noqa: PLC0415  Most installs don't need it.

    return HttpResponse(exposition.text(), content_type=exposition.CONTENT_TYPE_LATEST)
