from django.urls import path

from webui.server import connection_views, plan_views, program_views, views

urlpatterns = [
    path("account/server/", views.show, name="account-server"),
    path("account/server/storage/", views.change_storage, name="account-server-storage"),
    path("account/server/names/", views.change_names, name="account-server-names"),
    path("account/service/check/", connection_views.check, name="account-service-check"),
    path("account/wishes/<site_id:wish>/retry/", plan_views.retry, name="account-wish-retry"),
    path("account/wishes/<site_id:wish>/forget/", plan_views.forget, name="account-wish-forget"),
    path("account/connection/", connection_views.connect, name="account-connection"),
    path("account/connection/forget/", connection_views.forget, name="account-connection-forget"),
    path("account/programs/", program_views.password, name="account-programs"),
]
