from django.urls import path

from webui.player import views

urlpatterns = [
    path("files/file/<site_id:file>/tags/", views.show_tags, name="files-tags"),
    path(
        "files/<site_id:folder>/file-<site_id:file>/subtitles/<site_id:sub>.vtt",
        views.show_subtitles,
        name="subtitles",
    ),
    path("files/file/<site_id:file>/hls/", views.playable, {"kind": "hls"}, "stream-hls"),
    path("files/file/<site_id:file>/mp4/", views.playable, {"kind": "mp4"}, "stream-mp4"),
    path("files/file/<site_id:file>/scenes/", views.scenes, name="stream-scenes"),
    path("watch/<site_id:file>/", views.position, name="watch-position"),
    path("watch/<site_id:file>/mark/", views.set_watched, name="watch-mark"),
]
