from django.urls import path

from webui.people import pairing_views, views

urlpatterns = [
    path("account/people/invite/", views.invite, name="account-people-invite"),
    path(
        "account/people/invitations/<int:invitation>/", views.revoke, name="account-people-revoke"
    ),
    path("account/people/<int:person>/", views.person, name="account-people-person"),
    path("account/people/<int:person>/signout/", views.sign_out, name="account-people-signout"),
    path("account/people/<int:person>/remove/", views.remove, name="account-people-remove"),
    path("join/<str:token>/", views.join, name="join"),
    path("account/pair/", pairing_views.offer, name="account-pair"),
    path("account/pair/<int:pairing>/", pairing_views.show_outcome, name="account-pair-offered"),
    path("account/pair/code/", pairing_views.approve, name="account-pair-code"),
    path("pair/", pairing_views.wait, name="pair"),
    path("pair/state/", pairing_views.state, name="pair-state"),
    path("pair/<str:token>/", pairing_views.accept, name="pair-accept"),
]
