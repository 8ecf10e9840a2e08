from django.urls import path

from webui.moving import views

urlpatterns = [
    path("files/<site_id:folder>/move/", views.move, name="files-move"),
]
