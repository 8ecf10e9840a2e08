from django.urls import path

from webui.activity import views

urlpatterns = [
    path("account/activity/", views.show, name="account-activity"),
]
