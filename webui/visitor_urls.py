"""What a visitor can open, at the address of the link. All other URLs of the site don't exist."""

from django.urls import path

from webui import urls
from webui.shares.views import visitors

OPEN = {
    *("files-folder", "files-listing", "files-rows", "files-download"),
    *("files-archive", "files-archive-download", "files-folder-zip", "files-zip"),
    *("files-thumb", "stream-image", "stream-original", "stream-pdf"),
    *("preview", "preview-more", "music-queue", "files-tags"),
    *("stream-hls", "stream-mp4", "stream-scenes", "subtitles", "stream-part"),
}

urlpatterns = [
    path("", visitors.front, name="files"),
    *(each for each in urls.urlpatterns if each.name in OPEN),
]
