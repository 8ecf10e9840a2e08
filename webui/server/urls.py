from django.urls import path

from webui.server import views

urlpatterns = [
    path("account/server/", views.show, name="account-server"),
    path("account/server/storage/", views.change_storage, name="account-server-storage"),
    path("account/server/names/", views.change_names, name="account-server-names"),
    path("account/service/check/", views.check_service, name="account-service-check"),
    path("account/wishes/<site_id:wish>/retry/", views.retry_wish, name="account-wish-retry"),
    path("account/wishes/<site_id:wish>/forget/", views.forget_wish, name="account-wish-forget"),
    path("account/connection/", views.connect, name="account-connection"),
    path("account/connection/forget/", views.disconnect, name="account-connection-forget"),
    path("account/programs/", views.change_programs, name="account-programs"),
]
