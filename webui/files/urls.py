from django.urls import path

from webui.files.views import actions, folder, undo, unpacking

BELOW = "files/<site_id:folder>/"
ENTRY = f"{BELOW}<site_entry:key>/"

urlpatterns = [
    path("", folder.root, name="files"),
    path("files/undo/", undo.undo, name="files-undo"),
    path("files/file/<site_id:file>/download/", folder.download, name="files-download"),
    path(BELOW, folder.show, name="files-folder"),
    path(f"{BELOW}listing/", folder.listing, name="files-listing"),
    path(f"{BELOW}rows/", folder.rows, name="files-rows"),
    path(f"{BELOW}details/", folder.details, name="files-details"),
    path(f"{BELOW}new/", actions.new, name="files-new"),
    path(f"{BELOW}delete/", actions.delete, name="files-delete"),
    path(f"{BELOW}delete/loss/", actions.delete_dialog, name="files-loss"),
    path(f"{BELOW}unpacking/", unpacking.show, name="files-unpackings"),
    path(ENTRY, folder.row, name="files-row"),
    path(f"{ENTRY}rename/", actions.rename, name="files-rename"),
    path(f"{ENTRY}rename/form/", actions.rename_form, name="files-rename-form"),
    path(f"{ENTRY}unpack/", unpacking.unpack, name="files-unpack"),
]
