from django.urls import path, register_converter

from webui.paths import Entry, Id, Mark
from webui.views import (
    account,
    archives,
    changes,
    connection,
    errors,
    files,
    signin,
    thumbs,
    uploads,
    welcome,
)

register_converter(Id, "site_id")
register_converter(Entry, "site_entry")
register_converter(Mark, "site_mark")

urlpatterns = [
    # The bytes of files
    path("files/file/<site_id:file>/download/", files.download, name="files-download"),
    path("files/file/<site_id:file>/thumb/<site_mark:mark>/", thumbs.thumb, name="files-thumb"),
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
    # Account
    path("account/", account.show, name="account"),
    path("account/password/", account.password, name="account-password"),
    path("account/look/", account.look, name="account-look"),
    path("account/service/check/", connection.check, name="account-service-check"),
    path("account/connection/", connection.connect, name="account-connection"),
    path("account/connection/forget/", connection.forget, name="account-connection-forget"),
    # Coming and going
    path("signin/", signin.signin, name="signin"),
    path("signout/", signin.signout, name="signout"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
    path("offline/", errors.offline, name="offline"),
]
