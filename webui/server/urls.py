from django.urls import path

from webui.server.views import connection, plan, programs, server

urlpatterns = [
    path("account/server/", server.show, name="account-server"),
    path("account/server/storage/", server.change_storage, name="account-server-storage"),
    path("account/server/names/", server.change_names, name="account-server-names"),
    path("account/service/check/", connection.check, name="account-service-check"),
    path("account/wishes/<site_id:wish>/retry/", plan.retry, name="account-wish-retry"),
    path("account/wishes/<site_id:wish>/forget/", plan.forget, name="account-wish-forget"),
    path("account/connection/", connection.connect, name="account-connection"),
    path("account/connection/forget/", connection.forget, name="account-connection-forget"),
    path("account/programs/", programs.password, name="account-programs"),
]
