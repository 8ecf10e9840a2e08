from django.urls import include, path, register_converter

from webui.http.url_converters import EntryConverter, Id, Key, TransferConverter, VersionConverter

register_converter(Id, "site_id")
register_converter(Key, "site_key")
register_converter(EntryConverter, "site_entry")
register_converter(VersionConverter, "site_version")
register_converter(TransferConverter, "site_transfer")

urlpatterns = [
    path("", include("webui.previews.urls")),
    path("", include("webui.player.urls")),
    path("", include("webui.streams.urls")),
    path("", include("webui.files.urls")),
    path("", include("webui.moving.urls")),
    path("", include("webui.deleting.urls")),
    path("", include("webui.uploads.urls")),
    path("", include("webui.archives.urls")),
    path("", include("webui.search.urls")),
    path("", include("webui.shares.urls")),
    path("", include("webui.transfers.urls")),
    path("", include("webui.add.urls")),
    path("", include("webui.account.urls")),
    path("", include("webui.server.urls")),
    path("", include("webui.health.urls")),
    path("", include("webui.activity.urls")),
    path("", include("webui.people.urls")),
    path("", include("webui.signin.urls")),
    path("", include("webui.shell.urls")),
    path("", include("webui.errors.urls")),
]
