from django.urls import include, path

from host import health
from host.monitoring import endpoint

urlpatterns = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("metrics", endpoint.metrics, name="metrics"),
    path("content/", include("service.content.views")),
    path("content/", include("service.content.playback_views")),
    path("", include("service.api.urls")),
    path("", include("webui.urls")),
]

handler400 = "webui.errors.answers.bad_request"
handler403 = "webui.errors.answers.permission_denied"
handler404 = "webui.errors.answers.not_found"
handler500 = "webui.errors.answers.server_error"
