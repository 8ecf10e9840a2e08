from django.urls import path

from webui.transfers import views

urlpatterns = [
    path("transfers/", views.show, name="transfers"),
    path("transfers/list/", views.listing, name="transfers-list"),
    path("transfers/running/", views.running, name="transfers-running"),
    path("transfers/clear/", views.clear, name="transfers-clear"),
    path("transfers/restore/", views.restore, name="transfers-restore"),
    path("transfers/<site_transfer:key>/remove/", views.remove, name="transfers-remove"),
    path("transfers/<site_transfer:key>/loss/", views.remove_dialog, name="transfers-loss"),
    path("transfers/<site_transfer:key>/link/", views.link, name="transfers-link"),
    path("transfers/<site_transfer:key>/retry/", views.retry, name="transfers-retry"),
    path("transfers/<site_transfer:key>/open/", views.open_, name="transfers-open"),
]
