from django.db import migrations
from django.db.models import Exists, OuterRef


def read_again(apps, schema_editor):
    """Earlier versions drew no PDF files. What has no camera yet is read again while idle."""
    content = {"sha1": OuterRef("sha1"), "size_bytes": OuterRef("size_bytes")}
    alias = schema_editor.connection.alias
    files = apps.get_model("service", "File").objects.using(alias)
    named = files.filter(name__iendswith=".pdf", **content)
    media = apps.get_model("service", "Media").objects.using(alias)
    media.filter(Exists(named), kind="other", state="probed").update(camera=None)


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0021_free_kinds"),
    ]

    operations = [
        migrations.RunPython(read_again, migrations.RunPython.noop, elidable=True),
    ]
