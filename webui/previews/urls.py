from django.urls import path

from webui.previews.views import originals, preview, thumbnails

FILE = "files/file/<site_id:file>/"
BESIDE = "files/<site_id:folder>/file-<site_id:file>/"

urlpatterns = [
    path(f"{FILE}thumb/<site_version:version>/", thumbnails.thumb, name="files-thumb"),
    path(f"{FILE}image/<site_version:version>/", thumbnails.image, name="stream-image"),
    path(f"{FILE}raw/", originals.original, name="stream-original"),
    path(f"{FILE}pdf/", originals.pdf, name="stream-pdf"),
    path(f"{BESIDE}view/", preview.show, name="preview"),
    path(f"{BESIDE}text/", preview.more, name="preview-more"),
    path(f"{BESIDE}queue/", preview.queue, name="music-queue"),
]
