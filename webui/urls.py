from django.urls import path

from webui.views import account, errors, files, signin, welcome

urlpatterns = [
    # Files
    path("", files.show, name="files"),
    # Account
    path("account/", account.show, name="account"),
    path("account/password/", account.password, name="account-password"),
    path("account/look/", account.look, name="account-look"),
    # Coming and going
    path("signin/", signin.signin, name="signin"),
    path("signout/", signin.signout, name="signout"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
    path("offline/", errors.offline, name="offline"),
]
