from django.urls import path

from webui.player.views import film, subtitles, tags

urlpatterns = [
    path("files/file/<site_id:file>/tags/", tags.show, name="files-tags"),
    path(
        "files/<site_id:folder>/file-<site_id:file>/subtitles/<site_id:sub>.vtt",
        subtitles.show,
        name="subtitles",
    ),
    path("files/file/<site_id:file>/hls/", film.playable, {"kind": "hls"}, "stream-hls"),
    path("files/file/<site_id:file>/mp4/", film.playable, {"kind": "mp4"}, "stream-mp4"),
    path("files/file/<site_id:file>/scenes/", film.scenes, name="stream-scenes"),
    path("watch/<site_id:file>/", film.position, name="watch-position"),
    path("watch/<site_id:file>/mark/", film.set_watched, name="watch-mark"),
]
