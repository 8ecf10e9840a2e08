from django.urls import path

from webui.health import views

urlpatterns = [
    path("account/health/", views.show, name="account-health"),
]
