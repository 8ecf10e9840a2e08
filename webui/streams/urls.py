from django.urls import path

from webui.streams import views

urlpatterns = [
    path("stream/<str:token>", views.part, name="stream-part"),
]
