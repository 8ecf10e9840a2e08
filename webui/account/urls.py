from django.urls import path

from webui.account import views

urlpatterns = [
    path("account/", views.show, name="account"),
    path("account/password/", views.password, name="account-password"),
    path("account/language/", views.language, name="account-language"),
    path("account/look/", views.choose_theme, name="account-look"),
    path("account/tokens/", views.make_token, name="account-tokens"),
    path("account/tokens/<int:token>/revoke/", views.revoke_token, name="account-token-revoke"),
    path(
        "account/devices/<int:device>/signout/",
        views.sign_out_device,
        name="account-devices-signout",
    ),
    path("account/devices/signout/", views.sign_out_others, name="account-devices-signout-others"),
]
