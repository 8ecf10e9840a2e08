from django.urls import path

from webui.shares.views import making, managing, players, receiving, visitors

urlpatterns = [
    path("files/<site_id:folder>/link/", players.folder, name="share-folder"),
    path("files/<site_id:folder>/share/", making.share, name="share-new"),
    path("files/<site_id:folder>/<site_entry:key>/link/", players.entry, name="share"),
    path("s/<str:token>/", visitors.show, name="share-page"),
    path("s/<str:token>/send/", receiving.receive, name="share-receive"),
    path("s/<str:token>/playlist/<str:name>", players.playlist, name="share-m3u"),
    path("s/<str:token>/<site_id:file>/<str:name>", players.open_, name="share-open"),
    path("s/<str:token>/<path:path>", visitors.show, name="share-inside"),
    path("account/links/<int:share>/", managing.change, name="account-link"),
    path("account/links/<int:share>/revoke/", managing.revoke, name="account-link-revoke"),
]
