from django.urls import path, register_converter

from webui.paths import Entry, Id, Mark, Transfer
from webui.views import (
    account,
    activity,
    archives,
    changes,
    connection,
    devices,
    errors,
    files,
    health,
    installed,
    originals,
    pairing,
    people,
    plan,
    player,
    previews,
    programs,
    sending,
    shares,
    signin,
    streams,
    subtitles,
    thumbs,
    tokens,
    transfers,
    uploads,
    welcome,
)

register_converter(Id, "site_id")
register_converter(Entry, "site_entry")
register_converter(Mark, "site_mark")
register_converter(Transfer, "site_transfer")

urlpatterns = [
    # The bytes of files
    path("files/file/<site_id:file>/download/", files.download, name="files-download"),
    path("files/file/<site_id:file>/thumb/<site_mark:mark>/", thumbs.thumb, name="files-thumb"),
    path("files/file/<site_id:file>/image/<site_mark:mark>/", thumbs.image, name="stream-image"),
    path("files/file/<site_id:file>/raw/", originals.original, name="stream-original"),
    path("files/file/<site_id:file>/pdf/", originals.pdf, name="stream-pdf"),
    path("files/folder/<site_id:folder>/zip/", archives.folder_zip, name="files-folder-zip"),
    path("files/zip/<str:key>/", archives.show, name="files-archive"),
    path("files/zip/<str:key>/download/", archives.download, name="files-archive-download"),
    # Folders
    path("", files.root, name="files"),
    path("files/<site_id:folder>/", files.show, name="files-folder"),
    path("files/<site_id:folder>/listing/", files.listing, name="files-listing"),
    path("files/<site_id:folder>/rows/", files.rows, name="files-rows"),
    path("files/<site_id:folder>/new/", changes.new, name="files-new"),
    path("files/<site_id:folder>/delete/", changes.delete, name="files-delete"),
    path("files/<site_id:folder>/delete/loss/", changes.loss, name="files-loss"),
    path("files/<site_id:folder>/zip/", archives.pack, name="files-zip"),
    path("files/<site_id:folder>/upload/", uploads.upload, name="files-upload"),
    # Entries
    path("files/<site_id:folder>/<site_entry:key>/", files.row, name="files-row"),
    path("files/<site_id:folder>/<site_entry:key>/rename/", changes.rename, name="files-rename"),
    path(
        "files/<site_id:folder>/<site_entry:key>/rename/form/",
        changes.rename_form,
        name="files-rename-form",
    ),
    # Streams
    path("stream/<str:token>", streams.part, name="stream-part"),
    path(
        "files/<site_id:folder>/file-<site_id:file>/subtitles/<site_id:sub>.vtt",
        subtitles.show,
        name="subtitles",
    ),
    # Links for other players
    path("files/<site_id:folder>/link/", shares.folder, name="share-folder"),
    path("files/<site_id:folder>/<site_entry:key>/link/", shares.entry, name="share"),
    path("s/<str:token>/playlist/<str:name>", shares.playlist, name="share-m3u"),
    path("s/<str:token>/<site_id:file>/<str:name>", shares.open_, name="share-open"),
    path("account/links/<int:share>/revoke/", shares.revoke, name="share-revoke"),
    # Transfers
    path("transfers/", transfers.show, name="transfers"),
    path("transfers/list/", transfers.listing, name="transfers-list"),
    path("transfers/clear/", transfers.clear, name="transfers-clear"),
    path("transfers/<site_transfer:key>/remove/", transfers.remove, name="transfers-remove"),
    path("transfers/<site_transfer:key>/loss/", transfers.loss, name="transfers-loss"),
    path("transfers/<site_transfer:key>/link/", transfers.link, name="transfers-link"),
    path("transfers/<site_transfer:key>/retry/", transfers.retry, name="transfers-retry"),
    path("transfers/<site_transfer:key>/open/", transfers.open_, name="transfers-open"),
    # Sending
    path("transfers/send/", sending.send, name="transfers-send"),
    path("add/", sending.add, name="add"),
    path("add/share/", sending.shared, name="add-shared"),
    path("send/", tokens.send, name="send-token"),
    path("manifest.webmanifest", installed.manifest, name="manifest"),
    path("sw.js", installed.worker, name="worker"),
    # Previews
    path("files/<site_id:folder>/file-<site_id:file>/view/", previews.show, name="preview"),
    path("files/<site_id:folder>/file-<site_id:file>/text/", previews.more, name="preview-more"),
    # Films
    path("files/file/<site_id:file>/hls/", player.hls, name="stream-hls"),
    path("files/file/<site_id:file>/mp4/", player.mp4, name="stream-mp4"),
    path("watch/<site_id:file>/", player.position, name="watch-position"),
    path("watch/<site_id:file>/mark/", player.mark, name="watch-mark"),
    # Account
    path("account/", account.show, name="account"),
    path("account/health/", health.show, name="account-health"),
    path("account/activity/", activity.show, name="account-activity"),
    path("account/password/", account.password, name="account-password"),
    path("account/language/", account.language, name="account-language"),
    path("account/look/", account.look, name="account-look"),
    path("account/tokens/", tokens.make, name="account-tokens"),
    path("account/tokens/<int:token>/revoke/", tokens.revoke, name="account-token-revoke"),
    path("account/service/check/", connection.check, name="account-service-check"),
    path("account/wishes/<site_id:wish>/retry/", plan.retry, name="account-wish-retry"),
    path("account/wishes/<site_id:wish>/forget/", plan.forget, name="account-wish-forget"),
    path("account/connection/", connection.connect, name="account-connection"),
    path("account/connection/forget/", connection.forget, name="account-connection-forget"),
    path("account/devices/<int:device>/signout/", devices.sign_out, name="account-devices-signout"),
    path(
        "account/devices/signout/", devices.sign_out_others, name="account-devices-signout-others"
    ),
    path("account/programs/", programs.password, name="account-programs"),
    # People
    path("account/people/invite/", people.invite, name="account-people-invite"),
    path(
        "account/people/invitations/<int:invitation>/", people.revoke, name="account-people-revoke"
    ),
    path("account/people/<int:person>/", people.person, name="account-people-person"),
    path("account/people/<int:person>/signout/", people.sign_out, name="account-people-signout"),
    path("account/people/<int:person>/remove/", people.remove, name="account-people-remove"),
    path("join/<str:token>/", people.join, name="join"),
    # Pairing
    path("account/pair/", pairing.offer, name="account-pair"),
    path("account/pair/<int:pairing>/", pairing.offered, name="account-pair-offered"),
    path("account/pair/code/", pairing.approve, name="account-pair-code"),
    path("pair/", pairing.wait, name="pair"),
    path("pair/state/", pairing.state, name="pair-state"),
    path("pair/<str:token>/", pairing.accept, name="pair-accept"),
    # Coming and going
    path("signin/", signin.signin, name="signin"),
    path("signout/", signin.signout, name="signout"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
    path("offline/", errors.offline, name="offline"),
]
