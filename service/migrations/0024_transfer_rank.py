from django.db import migrations, models
from django.db.models import F

ADD = 'ALTER TABLE service_transfer ADD COLUMN "rank" bigint DEFAULT 0 NOT NULL'
DROP = 'ALTER TABLE service_transfer DROP COLUMN "rank"'


def rank_by_age(apps, schema_editor):
    transfers = apps.get_model("service", "Transfer").objects.using(schema_editor.connection.alias)
    transfers.exclude(state="done").update(rank=F("id"))


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0023_transfer_details"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            # For SQLite, Django would copy the table, and forget which ids were in use.
            database_operations=[migrations.RunSQL(ADD, DROP)],
            state_operations=[
                migrations.AddField(
                    "transfer", "rank", models.BigIntegerField(db_default=0, default=0)
                )
            ],
        ),
        migrations.RemoveIndex("transfer", "free_undone"),
        migrations.RemoveIndex("transfer", "undone_by_account"),
        migrations.AddIndex(
            "transfer",
            models.Index(
                condition=models.Q(("state", "done"), _negated=True),
                fields=["account", "rank"],
                name="undone_by_account",
            ),
        ),
        migrations.AddIndex(
            "transfer",
            models.Index(
                condition=models.Q(
                    models.Q(("state", "done"), _negated=True),
                    models.Q(("state", "failed"), _negated=True),
                    ("leased_by", ""),
                ),
                fields=["state", "account", "rank", "id", "kind", "size_bytes"],
                name="free_undone",
            ),
        ),
        migrations.RunPython(rank_by_age, migrations.RunPython.noop, elidable=True),
    ]
