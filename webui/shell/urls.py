from django.urls import path

from webui.shell import installed_app

urlpatterns = [
    path("manifest.webmanifest", installed_app.manifest, name="manifest"),
    path("sw.js", installed_app.worker, name="worker"),
]
