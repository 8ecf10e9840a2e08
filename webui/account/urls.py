from django.urls import path

from webui.account.views import account, devices, tokens

urlpatterns = [
    path("account/", account.show, name="account"),
    path("account/password/", account.password, name="account-password"),
    path("account/language/", account.language, name="account-language"),
    path("account/look/", account.choose_theme, name="account-look"),
    path("account/tokens/", tokens.make, name="account-tokens"),
    path("account/tokens/<int:token>/revoke/", tokens.revoke, name="account-token-revoke"),
    path("account/devices/<int:device>/signout/", devices.sign_out, name="account-devices-signout"),
    path(
        "account/devices/signout/", devices.sign_out_others, name="account-devices-signout-others"
    ),
]
