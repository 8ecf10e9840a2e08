from django.urls import include, path

from config import health

urlpatterns = [
    path("healthz", health.alive, name="healthz"),
    path("readyz", health.ready, name="readyz"),
    path("content/", include("service.content")),
    path("content/", include("service.playback")),
    path("", include("service.api.urls")),
    path("", include("webui.urls")),
]

handler400 = "webui.views.errors.bad_request"
handler403 = "webui.views.errors.forbidden"
handler404 = "webui.views.errors.not_found"
handler500 = "webui.views.errors.broken"
