"""What a visitor can open, at the address of the link. All other URLs of the site don't exist."""

from django.urls import path

from webui.archives import views as archive_views
from webui.files.views import folder as files_views
from webui.player.views import film as player_views
from webui.player.views import subtitles as subtitle_views
from webui.player.views import tags as tag_views
from webui.previews.views import originals as original_views
from webui.previews.views import preview as preview_views
from webui.previews.views import thumbnails as thumbnail_views
from webui.shares.views import visitors as visitor_views
from webui.streams import views as stream_views

FILE, FOLDER = "files/file/<site_id:file>", "files/<site_id:folder>"
BESIDE = f"{FOLDER}/file-<site_id:file>"

urlpatterns = [
    path("", visitor_views.front, name="files"),
    path(f"{FILE}/download/", files_views.download, name="files-download"),
    path(f"{FILE}/thumb/<site_version:version>/", thumbnail_views.thumb, name="files-thumb"),
    path(f"{FILE}/image/<site_version:version>/", thumbnail_views.image, name="stream-image"),
    path(f"{FILE}/raw/", original_views.original, name="stream-original"),
    path(f"{FILE}/pdf/", original_views.pdf, name="stream-pdf"),
    path(f"{FILE}/tags/", tag_views.show, name="files-tags"),
    path(f"{FILE}/hls/", player_views.hls, name="stream-hls"),
    path(f"{FILE}/mp4/", player_views.mp4, name="stream-mp4"),
    path(f"{FILE}/scenes/", player_views.scenes, name="stream-scenes"),
    path(f"{BESIDE}/view/", preview_views.show, name="preview"),
    path(f"{BESIDE}/text/", preview_views.more, name="preview-more"),
    path(f"{BESIDE}/queue/", preview_views.queue, name="music-queue"),
    path(f"{BESIDE}/subtitles/<site_id:sub>.vtt", subtitle_views.show, name="subtitles"),
    path("files/folder/<site_id:folder>/zip/", archive_views.folder_zip, name="files-folder-zip"),
    path("files/zip/<site_key:key>/", archive_views.show, name="files-archive"),
    path(
        "files/zip/<site_key:key>/download/", archive_views.download, name="files-archive-download"
    ),
    path(f"{FOLDER}/", files_views.show, name="files-folder"),
    path(f"{FOLDER}/listing/", files_views.listing, name="files-listing"),
    path(f"{FOLDER}/rows/", files_views.rows, name="files-rows"),
    path(f"{FOLDER}/zip/", archive_views.pack, name="files-zip"),
    path("stream/<str:token>", stream_views.part, name="stream-part"),
]
