from django.urls import path

from webui.player import subtitle_views, tag_views, views

urlpatterns = [
    path("files/file/<site_id:file>/tags/", tag_views.show, name="files-tags"),
    path(
        "files/<site_id:folder>/file-<site_id:file>/subtitles/<site_id:sub>.vtt",
        subtitle_views.show,
        name="subtitles",
    ),
    path("files/file/<site_id:file>/hls/", views.hls, name="stream-hls"),
    path("files/file/<site_id:file>/mp4/", views.mp4, name="stream-mp4"),
    path("files/file/<site_id:file>/scenes/", views.scenes, name="stream-scenes"),
    path("watch/<site_id:file>/", views.position, name="watch-position"),
    path("watch/<site_id:file>/mark/", views.set_watched, name="watch-mark"),
]
