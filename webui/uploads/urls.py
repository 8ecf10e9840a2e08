from django.urls import path

from webui.uploads.views import form, resumable

urlpatterns = [
    path("files/<site_id:folder>/upload/", form.upload, name="files-upload"),
    path("files/<site_id:folder>/uploads/", resumable.begin, name="files-resumable-begin"),
    path("files/uploads/<site_key:key>/", resumable.resumable, name="files-resumable"),
    path("files/uploads/<site_key:key>/cancel/", resumable.cancel, name="files-resumable-cancel"),
]
