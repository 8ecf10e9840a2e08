from django.urls import path

from webui.signin import views

urlpatterns = [
    path("signin/", views.signin, name="signin"),
    path("signout/", views.signout, name="signout"),
    path("welcome/<str:token>/", views.welcome, name="welcome"),
]
