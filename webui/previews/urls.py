from django.urls import path

from webui.previews.views import originals, preview, thumbnails

urlpatterns = [
    path(
        "files/file/<site_id:file>/thumb/<site_version:version>/",
        thumbnails.thumb,
        name="files-thumb",
    ),
    path(
        "files/file/<site_id:file>/image/<site_version:version>/",
        thumbnails.image,
        name="stream-image",
    ),
    path("files/file/<site_id:file>/raw/", originals.original, name="stream-original"),
    path("files/file/<site_id:file>/pdf/", originals.pdf, name="stream-pdf"),
    path("files/<site_id:folder>/file-<site_id:file>/view/", preview.show, name="preview"),
    path("files/<site_id:folder>/file-<site_id:file>/text/", preview.more, name="preview-more"),
    path("files/<site_id:folder>/file-<site_id:file>/queue/", preview.queue, name="music-queue"),
]
