from django.urls import path

from webui.archives import views

urlpatterns = [
    path("files/folder/<site_id:folder>/zip/", views.folder_zip, name="files-folder-zip"),
    path("files/<site_id:folder>/zip/", views.pack, name="files-zip"),
    path("files/zip/<site_key:key>/", views.show, name="files-archive"),
    path("files/zip/<site_key:key>/download/", views.download, name="files-archive-download"),
]
