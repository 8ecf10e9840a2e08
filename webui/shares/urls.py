from django.urls import path

from webui.shares import views

urlpatterns = [
    path("files/<site_id:folder>/link/", views.folder, name="share-folder"),
    path("files/<site_id:folder>/<site_entry:key>/link/", views.entry, name="share"),
    path("s/<str:token>/playlist/<str:name>", views.playlist, name="share-m3u"),
    path("s/<str:token>/<site_id:file>/<str:name>", views.open_, name="share-open"),
    path("account/links/<int:share>/revoke/", views.revoke, name="share-revoke"),
]
