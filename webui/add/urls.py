from django.urls import path

from webui.add.views import add, send_by_token

urlpatterns = [
    path("transfers/send/", add.send, name="transfers-send"),
    path("add/", add.add, name="add"),
    path("add/read/", add.read, name="add-read"),
    path("add/share/", add.redirect_share, name="add-shared"),
    path("send/", send_by_token.send, name="send-token"),
]
