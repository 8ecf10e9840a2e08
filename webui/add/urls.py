from django.urls import path

from webui.add import send_by_token_views, views

urlpatterns = [
    path("transfers/send/", views.send, name="transfers-send"),
    path("add/", views.add, name="add"),
    path("add/read/", views.read, name="add-read"),
    path("add/share/", views.redirect_share, name="add-shared"),
    path("send/", send_by_token_views.send, name="send-token"),
]
