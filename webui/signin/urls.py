from django.urls import path

from webui.signin.views import signin, welcome

urlpatterns = [
    path("signin/", signin.signin, name="signin"),
    path("signout/", signin.signout, name="signout"),
    path("welcome/<str:token>/", welcome.welcome, name="welcome"),
]
