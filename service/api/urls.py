"""Every path of v1, in the order of the specification's tables."""

from django.urls import URLPattern, include, path, re_path, register_converter

from service.api import description, files, folders, media, transfers, user, zips
from service.api.endpoints import Nowhere, endpoint, open_endpoint
from service.api.paths import Number

register_converter(Number, "id")


def of_transfers(noun: str) -> list[URLPattern]:
    """Both namings of v1 are answered alike."""
    return [
        path(noun, endpoint(GET=transfers.index)),
        path(f"{noun}/magnet", endpoint(POST=transfers.add_magnet)),
        path(f"{noun}/url", endpoint(POST=transfers.add_url)),
        path(
            f"{noun}/<id:transfer_id>",
            endpoint(GET=transfers.show, DELETE=transfers.delete, POST=transfers.delete),
        ),
        path(f"{noun}/<id:transfer_id>/delete", endpoint(POST=transfers.delete)),
    ]


endpoints = [
    # Folders
    path("folder", endpoint(GET=folders.show, POST=folders.create)),
    path("folder/<id:folder_id>", endpoint(GET=folders.show, DELETE=folders.delete)),
    path("folder/<id:folder_id>/download", endpoint(GET=folders.download)),
    path("folder/<id:folder_id>/rename", endpoint(POST=folders.rename)),
    path("folder/<id:folder_id>/delete", endpoint(POST=folders.delete)),
    # Files
    path("file/<id:file_id>", endpoint(GET=files.download, DELETE=files.delete)),
    path("file/<id:file_id>/hls", endpoint(GET=media.hls)),
    path("file/<id:file_id>/mp4", endpoint(GET=media.mp4)),
    path("file/<id:file_id>/image", endpoint(GET=media.image)),
    path("file/<id:file_id>/thumbnail", endpoint(GET=media.thumbnail)),
    path("<id:file_id>/thumbnail", endpoint(GET=media.thumbnail)),
    path("file/<id:file_id>/rename", endpoint(POST=files.rename)),
    path("<id:file_id>/rename", endpoint(POST=files.rename)),
    path("file/<id:file_id>/delete", endpoint(POST=files.delete)),
    # Transfers
    *of_transfers("transfer"),
    path("transfer/file", endpoint(POST=transfers.add_file)),
    *of_transfers("torrent"),
    path("torrent/file", endpoint(POST=transfers.add_torrent)),
    # User
    path("user", endpoint(GET=user.show)),
    path("user/<id:user_id>", endpoint(GET=user.show)),
    # Combined archive
    path("zip", endpoint(GET=zips.build, POST=zips.build)),
    # Description
    path("openapi.json", open_endpoint(GET=description.openapi)),
    re_path("", Nowhere({})),
]
urlpatterns = [
    path("rest", open_endpoint(GET=description.page), name="rest"),
    path("rest/", open_endpoint(GET=description.page)),
    path("rest/", include(endpoints)),
]
