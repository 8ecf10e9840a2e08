from django.urls import path

from webui.search import views

urlpatterns = [
    path("files/largest/", views.largest, name="files-largest"),
    path("search/", views.show, name="search"),
    path("search/results/", views.results, name="search-results"),
    path("search/folder/", views.choose, name="search-folder"),
    path("search/elsewhere/<site_id:folder>/", views.elsewhere, name="search-elsewhere"),
]
