from django.urls import path

from webui.deleting import views

urlpatterns = [
    path("files/deleted/", views.show, name="files-deleted"),
    path("files/deleted/restore/", views.restore, name="files-deleted-restore"),
    path("files/deleted/delete/", views.delete, name="files-deleted-delete"),
]
