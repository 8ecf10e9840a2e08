"""What a visitor can open, at the address of the link. All other URLs of the site don't exist."""

from django.urls import path

from webui.archives.urls import urlpatterns as archives
from webui.files.urls import urlpatterns as files
from webui.player.urls import urlpatterns as player
from webui.previews.urls import urlpatterns as previews
from webui.shares.views import visitors
from webui.streams.urls import urlpatterns as streams

OPEN = {
    *("files-folder", "files-listing", "files-rows", "files-download"),
    *("files-archive", "files-archive-download", "files-folder-zip", "files-zip"),
    *("files-thumb", "stream-image", "stream-original", "stream-pdf"),
    *("preview", "preview-more", "music-queue", "files-tags"),
    *("stream-hls", "stream-mp4", "stream-scenes", "subtitles", "stream-part"),
}

urlpatterns = [
    path("", visitors.front, name="files"),
    *(each for each in previews + player + streams + files + archives if each.name in OPEN),
]
