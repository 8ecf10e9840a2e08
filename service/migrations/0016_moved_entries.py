from importlib import import_module
from typing import Any

import django.db.models.deletion
from django.db import migrations, models

search = import_module("service.migrations.0013_search")
TABLES = ("service_file", "service_deletedfile")


def note_ids(_apps: Any, editor: Any) -> None:
    """For SQLite, Django copies the tables, and forgets which ids were in use."""
    if editor.connection.vendor == "sqlite":
        names = ", ".join(f"'{table}'" for table in TABLES)
        editor.execute(
            f"CREATE TABLE ids AS SELECT name, seq FROM sqlite_sequence WHERE name IN ({names})"
        )


def bring_back(_apps: Any, editor: Any) -> None:
    """The copies have none of the triggers that keep the index of names up to date."""
    if editor.connection.vendor == "sqlite":
        editor.execute(
            "UPDATE sqlite_sequence SET seq = max(seq, (SELECT seq FROM ids "
            "WHERE ids.name = sqlite_sequence.name)) WHERE name IN (SELECT name FROM ids)"
        )
        editor.execute(
            "INSERT INTO sqlite_sequence (name, seq) SELECT name, seq FROM ids "
            "WHERE name NOT IN (SELECT name FROM sqlite_sequence)"
        )
        editor.execute("DROP TABLE ids")
        _index, *triggers = search.on_sqlite("service_file")
        for trigger in triggers:
            editor.execute(trigger)


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0015_deleted_content"),
    ]

    operations = [
        migrations.RunPython(note_ids, bring_back),
        migrations.AlterField("file", "blob", models.CharField(db_index=True, max_length=32)),
        migrations.AlterField(
            "deletedfile", "blob", models.CharField(db_index=True, max_length=32)
        ),
        migrations.RunPython(bring_back, note_ids),
        migrations.AddField(
            "account", "keeps_deleted", models.BooleanField(db_default=False, default=False)
        ),
        migrations.AddField("deleteditem", "incoming", models.JSONField(null=True)),
        migrations.CreateModel(
            name="MovedEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("batch", models.BigIntegerField(db_index=True, default=0)),
                ("is_folder", models.BooleanField()),
                ("entry_id", models.BigIntegerField()),
                ("folder_id", models.BigIntegerField(null=True)),
                ("name", models.CharField(max_length=255)),
                ("size_bytes", models.BigIntegerField()),
                ("target_id", models.BigIntegerField()),
                ("deleted_item_id", models.BigIntegerField(null=True)),
                ("moved_at", models.DateTimeField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
            ],
        ),
    ]
