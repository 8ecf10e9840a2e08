from django.urls import path

from webui.previews import original_views, thumbnail_views, views

urlpatterns = [
    path(
        "files/file/<site_id:file>/thumb/<site_version:version>/",
        thumbnail_views.thumb,
        name="files-thumb",
    ),
    path(
        "files/file/<site_id:file>/image/<site_version:version>/",
        thumbnail_views.image,
        name="stream-image",
    ),
    path("files/file/<site_id:file>/raw/", original_views.original, name="stream-original"),
    path("files/file/<site_id:file>/pdf/", original_views.pdf, name="stream-pdf"),
    path("files/<site_id:folder>/file-<site_id:file>/view/", views.show, name="preview"),
    path("files/<site_id:folder>/file-<site_id:file>/text/", views.more, name="preview-more"),
    path("files/<site_id:folder>/file-<site_id:file>/queue/", views.queue, name="music-queue"),
]
