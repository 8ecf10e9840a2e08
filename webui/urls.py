from django.urls import path, register_converter

from webui.account import device_views, token_views
from webui.account import views as account_views
from webui.activity import views as activity_views
from webui.add import script_views
from webui.add import views as add_views
from webui.errors import views as error_views
from webui.files import action_views, archive_views, largest_views, upload_views
from webui.files import views as file_views
from webui.health import views as health_views
from webui.http.url_converters import EntryConverter, Id, TransferConverter, VersionConverter
from webui.people import pairing_views
from webui.people import views as people_views
from webui.player import subtitle_views, tag_views
from webui.player import views as player_views
from webui.previews import original_views, thumbnail_views
from webui.previews import views as preview_views
from webui.server import connection_views, plan_views, program_views
from webui.server import views as server_views
from webui.shares import views as share_views
from webui.shell import installed_app
from webui.signin import views as signin_views
from webui.signin import welcome_views
from webui.streams import views as stream_views
from webui.transfers import views as transfer_views

register_converter(Id, "site_id")
register_converter(EntryConverter, "site_entry")
register_converter(VersionConverter, "site_mark")
register_converter(TransferConverter, "site_transfer")

urlpatterns = [
    # The bytes of files
    path("files/file/<site_id:file>/download/", file_views.download, name="files-download"),
    path(
        "files/file/<site_id:file>/thumb/<site_mark:mark>/",
        thumbnail_views.thumb,
        name="files-thumb",
    ),
    path(
        "files/file/<site_id:file>/image/<site_mark:mark>/",
        thumbnail_views.image,
        name="stream-image",
    ),
    path("files/file/<site_id:file>/raw/", original_views.original, name="stream-original"),
    path("files/file/<site_id:file>/tags/", tag_views.show, name="files-tags"),
    path("files/file/<site_id:file>/pdf/", original_views.pdf, name="stream-pdf"),
    path("files/folder/<site_id:folder>/zip/", archive_views.folder_zip, name="files-folder-zip"),
    path("files/zip/<str:key>/", archive_views.show, name="files-archive"),
    path("files/zip/<str:key>/download/", archive_views.download, name="files-archive-download"),
    # Folders
    path("", file_views.root, name="files"),
    path("files/largest/", largest_views.show, name="files-largest"),
    path("files/<site_id:folder>/", file_views.show, name="files-folder"),
    path("files/<site_id:folder>/listing/", file_views.listing, name="files-listing"),
    path("files/<site_id:folder>/rows/", file_views.rows, name="files-rows"),
    path("files/<site_id:folder>/new/", action_views.new, name="files-new"),
    path("files/<site_id:folder>/delete/", action_views.delete, name="files-delete"),
    path("files/<site_id:folder>/delete/loss/", action_views.delete_dialog, name="files-loss"),
    path("files/<site_id:folder>/zip/", archive_views.pack, name="files-zip"),
    path("files/<site_id:folder>/upload/", upload_views.upload, name="files-upload"),
    # Entries
    path("files/<site_id:folder>/<site_entry:key>/", file_views.row, name="files-row"),
    path(
        "files/<site_id:folder>/<site_entry:key>/rename/", action_views.rename, name="files-rename"
    ),
    path(
        "files/<site_id:folder>/<site_entry:key>/rename/form/",
        action_views.rename_form,
        name="files-rename-form",
    ),
    # Streams
    path("stream/<str:token>", stream_views.part, name="stream-part"),
    path(
        "files/<site_id:folder>/file-<site_id:file>/subtitles/<site_id:sub>.vtt",
        subtitle_views.show,
        name="subtitles",
    ),
    # Links for other players
    path("files/<site_id:folder>/link/", share_views.folder, name="share-folder"),
    path("files/<site_id:folder>/<site_entry:key>/link/", share_views.entry, name="share"),
    path("s/<str:token>/playlist/<str:name>", share_views.playlist, name="share-m3u"),
    path("s/<str:token>/<site_id:file>/<str:name>", share_views.open_, name="share-open"),
    path("account/links/<int:share>/revoke/", share_views.revoke, name="share-revoke"),
    # Transfers
    path("transfers/", transfer_views.show, name="transfers"),
    path("transfers/list/", transfer_views.listing, name="transfers-list"),
    path("transfers/running/", transfer_views.running, name="transfers-running"),
    path("transfers/clear/", transfer_views.clear, name="transfers-clear"),
    path("transfers/restore/", transfer_views.restore, name="transfers-restore"),
    path("transfers/<site_transfer:key>/remove/", transfer_views.remove, name="transfers-remove"),
    path(
        "transfers/<site_transfer:key>/loss/", transfer_views.remove_dialog, name="transfers-loss"
    ),
    path("transfers/<site_transfer:key>/link/", transfer_views.link, name="transfers-link"),
    path("transfers/<site_transfer:key>/retry/", transfer_views.retry, name="transfers-retry"),
    path("transfers/<site_transfer:key>/open/", transfer_views.open_, name="transfers-open"),
    # Sending
    path("transfers/send/", add_views.send, name="transfers-send"),
    path("add/", add_views.add, name="add"),
    path("add/share/", add_views.shared, name="add-shared"),
    path("send/", script_views.send, name="send-token"),
    path("manifest.webmanifest", installed_app.manifest, name="manifest"),
    path("sw.js", installed_app.worker, name="worker"),
    # Previews
    path("files/<site_id:folder>/file-<site_id:file>/view/", preview_views.show, name="preview"),
    path(
        "files/<site_id:folder>/file-<site_id:file>/text/", preview_views.more, name="preview-more"
    ),
    path(
        "files/<site_id:folder>/file-<site_id:file>/queue/", preview_views.queue, name="music-queue"
    ),
    # Films
    path("files/file/<site_id:file>/hls/", player_views.hls, name="stream-hls"),
    path("files/file/<site_id:file>/mp4/", player_views.mp4, name="stream-mp4"),
    path("watch/<site_id:file>/", player_views.position, name="watch-position"),
    path("watch/<site_id:file>/mark/", player_views.set_watched, name="watch-mark"),
    # Account
    path("account/", account_views.show, name="account"),
    path("account/server/", server_views.show, name="account-server"),
    path("account/health/", health_views.show, name="account-health"),
    path("account/activity/", activity_views.show, name="account-activity"),
    path("account/password/", account_views.password, name="account-password"),
    path("account/language/", account_views.language, name="account-language"),
    path("account/look/", account_views.choose_theme, name="account-look"),
    path("account/tokens/", token_views.make, name="account-tokens"),
    path("account/tokens/<int:token>/revoke/", token_views.revoke, name="account-token-revoke"),
    path("account/service/check/", connection_views.check, name="account-service-check"),
    path("account/wishes/<site_id:wish>/retry/", plan_views.retry, name="account-wish-retry"),
    path("account/wishes/<site_id:wish>/forget/", plan_views.forget, name="account-wish-forget"),
    path("account/connection/", connection_views.connect, name="account-connection"),
    path("account/connection/forget/", connection_views.forget, name="account-connection-forget"),
    path(
        "account/devices/<int:device>/signout/",
        device_views.sign_out,
        name="account-devices-signout",
    ),
    path(
        "account/devices/signout/",
        device_views.sign_out_others,
        name="account-devices-signout-others",
    ),
    path("account/programs/", program_views.password, name="account-programs"),
    # People
    path("account/people/invite/", people_views.invite, name="account-people-invite"),
    path(
        "account/people/invitations/<int:invitation>/",
        people_views.revoke,
        name="account-people-revoke",
    ),
    path("account/people/<int:person>/", people_views.person, name="account-people-person"),
    path(
        "account/people/<int:person>/signout/", people_views.sign_out, name="account-people-signout"
    ),
    path("account/people/<int:person>/remove/", people_views.remove, name="account-people-remove"),
    path("join/<str:token>/", people_views.join, name="join"),
    # Pairing
    path("account/pair/", pairing_views.offer, name="account-pair"),
    path("account/pair/<int:pairing>/", pairing_views.offered, name="account-pair-offered"),
    path("account/pair/code/", pairing_views.approve, name="account-pair-code"),
    path("pair/", pairing_views.wait, name="pair"),
    path("pair/state/", pairing_views.state, name="pair-state"),
    path("pair/<str:token>/", pairing_views.accept, name="pair-accept"),
    # Signing in and out
    path("signin/", signin_views.signin, name="signin"),
    path("signout/", signin_views.signout, name="signout"),
    path("welcome/<str:token>/", welcome_views.welcome, name="welcome"),
    path("offline/", error_views.offline, name="offline"),
]
