from django.db import migrations


def forget(apps, schema_editor):
    """Symbols in names have become words. The worker reads the names again for the next search."""
    for name in ("IndexedEntry", "IndexedFolder", "NameIndex"):
        rows = apps.get_model("webui", name).objects
        rows.using(schema_editor.connection.alias).all().delete()


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0028_owner_settings"),
    ]

    operations = [
        migrations.RunPython(forget, migrations.RunPython.noop, elidable=True),
    ]
