from django.urls import path

from webui.files import (
    action_views,
    archive_views,
    deleted_views,
    largest_views,
    move_views,
    resumable_views,
    undo_views,
    unpack_views,
    upload_views,
    views,
)

urlpatterns = [
    path("files/file/<site_id:file>/download/", views.download, name="files-download"),
    path("files/folder/<site_id:folder>/zip/", archive_views.folder_zip, name="files-folder-zip"),
    path("files/zip/<site_key:key>/", archive_views.show, name="files-archive"),
    path(
        "files/zip/<site_key:key>/download/", archive_views.download, name="files-archive-download"
    ),
    path("", views.root, name="files"),
    path("files/undo/", undo_views.undo, name="files-undo"),
    path("files/deleted/", deleted_views.show, name="files-deleted"),
    path("files/deleted/restore/", deleted_views.restore, name="files-deleted-restore"),
    path("files/deleted/delete/", deleted_views.delete, name="files-deleted-delete"),
    path("files/largest/", largest_views.show, name="files-largest"),
    path("files/uploads/<site_key:key>/", resumable_views.resumable, name="files-resumable"),
    path(
        "files/uploads/<site_key:key>/cancel/",
        resumable_views.cancel,
        name="files-resumable-cancel",
    ),
    path("files/<site_id:folder>/", views.show, name="files-folder"),
    path("files/<site_id:folder>/listing/", views.listing, name="files-listing"),
    path("files/<site_id:folder>/rows/", views.rows, name="files-rows"),
    path("files/<site_id:folder>/details/", views.details, name="files-details"),
    path("files/<site_id:folder>/new/", action_views.new, name="files-new"),
    path("files/<site_id:folder>/delete/", action_views.delete, name="files-delete"),
    path("files/<site_id:folder>/delete/loss/", action_views.delete_dialog, name="files-loss"),
    path("files/<site_id:folder>/move/", move_views.move, name="files-move"),
    path("files/<site_id:folder>/zip/", archive_views.pack, name="files-zip"),
    path("files/<site_id:folder>/uploads/", resumable_views.begin, name="files-resumable-begin"),
    path("files/<site_id:folder>/upload/", upload_views.upload, name="files-upload"),
    path("files/<site_id:folder>/unpacking/", unpack_views.show, name="files-unpackings"),
    path(
        "files/<site_id:folder>/<site_entry:key>/unpack/", unpack_views.unpack, name="files-unpack"
    ),
    path("files/<site_id:folder>/<site_entry:key>/", views.row, name="files-row"),
    path(
        "files/<site_id:folder>/<site_entry:key>/rename/", action_views.rename, name="files-rename"
    ),
    path(
        "files/<site_id:folder>/<site_entry:key>/rename/form/",
        action_views.rename_form,
        name="files-rename-form",
    ),
]
