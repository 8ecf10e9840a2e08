from django.urls import path

from webui.account import device_views, token_views, views

urlpatterns = [
    path("account/", views.show, name="account"),
    path("account/password/", views.password, name="account-password"),
    path("account/language/", views.language, name="account-language"),
    path("account/look/", views.choose_theme, name="account-look"),
    path("account/tokens/", token_views.make, name="account-tokens"),
    path("account/tokens/<int:token>/revoke/", token_views.revoke, name="account-token-revoke"),
    path(
        "account/devices/<int:device>/signout/",
        device_views.sign_out,
        name="account-devices-signout",
    ),
    path(
        "account/devices/signout/",
        device_views.sign_out_others,
        name="account-devices-signout-others",
    ),
]
