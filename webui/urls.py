"""The URLs of the site, with their views, in one table."""

from django.urls import path, re_path, register_converter

from webui.account import views as account
from webui.activity import views as activity
from webui.add.views import add, send_by_token
from webui.archives import views as archives
from webui.choosing import views as choosing
from webui.deleting import views as deleting
from webui.drive import views as drive
from webui.errors import views as errors
from webui.files.views import actions, folder, undo, unpacking
from webui.health import views as health
from webui.http.url_converters import EntryConverter, Id, Key, TransferConverter, VersionConverter
from webui.limits import views as limits
from webui.moving import views as moving
from webui.notices import views as notices
from webui.people.views import pairing, people
from webui.player import views as player
from webui.previews.views import originals, preview, thumbnails
from webui.programs.views import qbittorrent, transmission
from webui.search import views as search
from webui.securing import views as securing
from webui.server import views as server
from webui.shares.views import making, managing, players, receiving, visitors
from webui.shell import views as shell
from webui.signin import views as signin
from webui.streams import views as streams
from webui.transfers.views import actions as transfers
from webui.transfers.views import details, listing
from webui.transfers.views import limits as limits_in_list
from webui.uploads.views import form, resumable

register_converter(Id, "site_id")
register_converter(Key, "site_key")
register_converter(EntryConverter, "site_entry")
register_converter(VersionConverter, "site_version")
register_converter(TransferConverter, "site_transfer")

FOLDER = "files/<site_id:folder>/"
ENTRY = f"{FOLDER}<site_entry:key>/"
FILE = "files/file/<site_id:file>/"

urlpatterns = [
    path(f"{FILE}thumb/<site_version:version>/", thumbnails.thumb, name="files-thumb"),
    path(f"{FILE}image/<site_version:version>/", thumbnails.image, name="stream-image"),
    path(f"{FILE}raw/", originals.original, name="stream-original"),
    path(f"{FILE}pdf/", originals.pdf, name="stream-pdf"),
    path(f"{FOLDER}file-<site_id:file>/view/", preview.show, name="preview"),
    path(f"{FOLDER}file-<site_id:file>/text/", preview.more, name="preview-more"),
    path(f"{FOLDER}file-<site_id:file>/queue/", preview.queue, name="music-queue"),
    path(f"{FILE}tags/", player.show_tags, name="files-tags"),
    path(
        f"{FOLDER}file-<site_id:file>/subtitles/<site_id:sub>.vtt",
        player.show_subtitles,
        name="subtitles",
    ),
    path(f"{FILE}hls/", player.playable, {"kind": "hls"}, "stream-hls"),
    path(f"{FILE}mp4/", player.playable, {"kind": "mp4"}, "stream-mp4"),
    path(f"{FILE}scenes/", player.scenes, name="stream-scenes"),
    path("watch/<site_id:file>/", player.position, name="watch-position"),
    path("watch/<site_id:file>/mark/", player.set_watched, name="watch-mark"),
    path("stream/<str:token>", streams.part, name="stream-part"),
    path("", folder.root, name="files"),
    path("files/undo/", undo.undo, name="files-undo"),
    path(f"{FILE}download/", folder.download, name="files-download"),
    path(FOLDER, folder.show, name="files-folder"),
    path(f"{FOLDER}listing/", folder.listing, name="files-listing"),
    path(f"{FOLDER}rows/", folder.rows, name="files-rows"),
    path(f"{FOLDER}details/", folder.details, name="files-details"),
    path(f"{FOLDER}new/", actions.new, name="files-new"),
    path(f"{FOLDER}delete/", actions.delete, name="files-delete"),
    path(f"{FOLDER}delete/loss/", actions.delete_dialog, name="files-loss"),
    path(f"{FOLDER}unpacking/", unpacking.show, name="files-unpackings"),
    path(ENTRY, folder.row, name="files-row"),
    path(f"{ENTRY}rename/", actions.rename, name="files-rename"),
    path(f"{ENTRY}rename/form/", actions.rename_form, name="files-rename-form"),
    path(f"{ENTRY}unpack/", unpacking.unpack, name="files-unpack"),
    path(f"{FOLDER}move/", moving.move, name="files-move"),
    path("files/deleted/", deleting.show, name="files-deleted"),
    path("files/deleted/restore/", deleting.restore, name="files-deleted-restore"),
    path("files/deleted/delete/", deleting.delete, name="files-deleted-delete"),
    path(f"{FOLDER}upload/", form.upload, name="files-upload"),
    path(f"{FOLDER}uploads/", resumable.begin, name="files-resumable-begin"),
    path("files/uploads/<site_key:key>/", resumable.resumable, name="files-resumable"),
    path("files/uploads/<site_key:key>/cancel/", resumable.cancel, name="files-resumable-cancel"),
    path("files/folder/<site_id:folder>/zip/", archives.folder_zip, name="files-folder-zip"),
    path(f"{FOLDER}zip/", archives.pack, name="files-zip"),
    path("files/zip/<site_key:key>/", archives.show, name="files-archive"),
    path("files/zip/<site_key:key>/download/", archives.download, name="files-archive-download"),
    path("files/largest/", search.largest, name="files-largest"),
    path("search/", search.show, name="search"),
    path("search/results/", search.results, name="search-results"),
    path("search/folder/", search.choose, name="search-folder"),
    path("search/elsewhere/<site_id:folder>/", search.elsewhere, name="search-elsewhere"),
    path(f"{FOLDER}link/", players.folder, name="share-folder"),
    path(f"{FOLDER}share/", making.share, name="share-new"),
    path(f"{ENTRY}link/", players.entry, name="share"),
    path("s/<str:token>/", visitors.show, name="share-page"),
    path("s/<str:token>/send/", receiving.receive, name="share-receive"),
    path("s/<str:token>/playlist/<str:name>", players.playlist, name="share-m3u"),
    path("s/<str:token>/<site_id:file>/<str:name>", players.open_, name="share-open"),
    path("s/<str:token>/<path:path>", visitors.show, name="share-inside"),
    path("account/links/<int:share>/", managing.change, name="account-link"),
    path("account/links/<int:share>/revoke/", managing.revoke, name="account-link-revoke"),
    path("transfers/", listing.show, name="transfers"),
    path("transfers/list/", listing.listing, name="transfers-list"),
    path("transfers/speeds/", details.speeds, name="transfers-speeds"),
    path("transfers/running/", listing.running, name="transfers-running"),
    path("transfers/change/", transfers.change, name="transfers-change"),
    path("transfers/order/", transfers.order, name="transfers-order"),
    path("transfers/cancel/", transfers.cancel, name="transfers-cancel"),
    path("transfers/retry/", transfers.retry_chosen, name="transfers-retry-chosen"),
    path("transfers/links/", transfers.links, name="transfers-links"),
    path("transfers/clear/", transfers.clear, name="transfers-clear"),
    path("transfers/restore/", transfers.restore, name="transfers-restore"),
    path("transfers/<site_transfer:key>/remove/", transfers.remove, name="transfers-remove"),
    path("transfers/<site_transfer:key>/link/", transfers.link, name="transfers-link"),
    path("transfers/<site_transfer:key>/retry/", transfers.retry, name="transfers-retry"),
    path("transfers/<site_transfer:key>/open/", listing.open_, name="transfers-open"),
    path("transfers/<site_transfer:key>/files/", choosing.choose, name="transfers-files"),
    path("transfers/<site_transfer:key>/details/", details.details, name="transfers-details"),
    path(
        "transfers/<site_transfer:key>/files/progress/",
        choosing.progress,
        name="transfers-files-progress",
    ),
    path("transfers/<site_transfer:key>/limits/", limits_in_list.limit, name="transfers-limits"),
    path("transfers/speed/", limits_in_list.show_speed, name="transfers-speed"),
    path("transfers/speed/switch/", limits_in_list.switch, name="transfers-switch"),
    path("transfers/send/", add.send, name="transfers-send"),
    path("add/", add.add, name="add"),
    path("add/read/", add.read, name="add-read"),
    path("add/share/", add.redirect_share, name="add-shared"),
    path("send/", send_by_token.send, name="send-token"),
    path("dav/", drive.answer, name="drive"),
    re_path(r"^dav(?:/(?P<path>.*))?$", drive.answer, name="drive-entry"),
    re_path(r"^api/v2/(?P<path>[A-Za-z/]{1,60})$", qbittorrent.answer, name="qbittorrent"),
    re_path("^transmission/rpc/?$", transmission.answer, name="transmission"),
    path("account/", account.show, name="account"),
    path("account/password/", account.password, name="account-password"),
    path("account/language/", account.language, name="account-language"),
    path("account/look/", account.choose_look, name="account-look"),
    path("account/tokens/", account.make_token, name="account-tokens"),
    path("account/tokens/<int:token>/revoke/", account.revoke_token, name="account-token-revoke"),
    path(
        "account/devices/<int:device>/signout/",
        account.sign_out_device,
        name="account-devices-signout",
    ),
    path(
        "account/devices/signout/", account.sign_out_others, name="account-devices-signout-others"
    ),
    path("account/notices/", notices.show, name="account-notices"),
    path("account/notices/device/", notices.add_device, name="account-notices-device"),
    path("account/notices/add/", notices.add, name="account-notices-add"),
    path("account/notices/<int:channel>/test/", notices.test, name="account-notices-test"),
    path("account/notices/<int:channel>/remove/", notices.remove, name="account-notices-remove"),
    path("feed/<str:token>/", notices.feed, name="feed"),
    path("account/server/", server.show, name="account-server"),
    path("account/server/storage/", server.change_storage, name="account-server-storage"),
    path("account/server/names/", server.change_names, name="account-server-names"),
    path("account/limits/", limits.show, name="account-limits"),
    path("account/limits/schedule/", limits.change_schedule, name="account-limits-schedule"),
    path("account/service/check/", server.check_service, name="account-service-check"),
    path("account/wishes/<site_id:wish>/retry/", server.retry_wish, name="account-wish-retry"),
    path("account/wishes/<site_id:wish>/forget/", server.forget_wish, name="account-wish-forget"),
    path("account/connection/", server.connect, name="account-connection"),
    path("account/connection/forget/", server.disconnect, name="account-connection-forget"),
    path("account/programs/", server.change_programs, name="account-programs"),
    path("account/traffic/", server.show_traffic, name="account-traffic"),
    path("account/health/", health.show, name="account-health"),
    path("account/activity/", activity.show, name="account-activity"),
    path("account/people/invite/", people.invite, name="account-people-invite"),
    path(
        "account/people/invitations/<int:invitation>/", people.revoke, name="account-people-revoke"
    ),
    path("account/people/<int:person>/", people.person, name="account-people-person"),
    path("account/people/<int:person>/signout/", people.sign_out, name="account-people-signout"),
    path("account/people/<int:person>/remove/", people.remove, name="account-people-remove"),
    path("join/<str:token>/", people.join, name="join"),
    path("account/pair/", pairing.offer, name="account-pair"),
    path("account/pair/<int:pairing>/", pairing.show_outcome, name="account-pair-offered"),
    path("account/pair/code/", pairing.approve, name="account-pair-code"),
    path("pair/", pairing.wait, name="pair"),
    path("pair/state/", pairing.state, name="pair-state"),
    path("pair/<str:token>/", pairing.accept, name="pair-accept"),
    path("secure/", securing.show, name="secure"),
    path("secure/ferry.crt", securing.certificate, name="secure-certificate"),
    path("secure/ferry.mobileconfig", securing.profile, name="secure-profile"),
    path("secure/move/", securing.move, name="secure-move"),
    path("pair/<str:token>/secure/", securing.enter, name="secure-enter"),
    path("signin/", signin.signin, name="signin"),
    path("signout/", signin.signout, name="signout"),
    path("welcome/<str:token>/", signin.welcome, name="welcome"),
    path("manifest.webmanifest", shell.manifest, name="manifest"),
    path("sw.js", shell.worker, name="worker"),
    path("offline/", errors.offline, name="offline"),
]
