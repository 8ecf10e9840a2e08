from django.urls import path

from webui.shares import making_views, managing_views, receiving_views, views, visitor_views

urlpatterns = [
    path("files/<site_id:folder>/link/", views.folder, name="share-folder"),
    path("files/<site_id:folder>/share/", making_views.share, name="share-new"),
    path("files/<site_id:folder>/<site_entry:key>/link/", views.entry, name="share"),
    path("s/<str:token>/", visitor_views.show, name="share-page"),
    path("s/<str:token>/send/", receiving_views.receive, name="share-receive"),
    path("s/<str:token>/playlist/<str:name>", views.playlist, name="share-m3u"),
    path("s/<str:token>/<site_id:file>/<str:name>", views.open_, name="share-open"),
    path("s/<str:token>/<path:path>", visitor_views.show, name="share-inside"),
    path("account/links/<int:share>/", managing_views.change, name="account-link"),
    path("account/links/<int:share>/revoke/", managing_views.revoke, name="account-link-revoke"),
]
