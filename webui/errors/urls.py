from django.urls import path

from webui.errors import views

urlpatterns = [
    path("offline/", views.offline, name="offline"),
]
