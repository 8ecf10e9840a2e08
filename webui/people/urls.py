from django.urls import path

from webui.people.views import pairing, people

urlpatterns = [
    path("account/people/invite/", people.invite, name="account-people-invite"),
    path(
        "account/people/invitations/<int:invitation>/", people.revoke, name="account-people-revoke"
    ),
    path("account/people/<int:person>/", people.person, name="account-people-person"),
    path("account/people/<int:person>/signout/", people.sign_out, name="account-people-signout"),
    path("account/people/<int:person>/remove/", people.remove, name="account-people-remove"),
    path("join/<str:token>/", people.join, name="join"),
    path("account/pair/", pairing.offer, name="account-pair"),
    path("account/pair/<int:pairing>/", pairing.show_outcome, name="account-pair-offered"),
    path("account/pair/code/", pairing.approve, name="account-pair-code"),
    path("pair/", pairing.wait, name="pair"),
    path("pair/state/", pairing.state, name="pair-state"),
    path("pair/<str:token>/", pairing.accept, name="pair-accept"),
]
