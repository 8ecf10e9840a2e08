from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0020_upload_promises"),
    ]

    operations = [
        migrations.RemoveIndex(model_name="transfer", name="free_undone"),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(
                condition=models.Q(
                    models.Q(("state", "done"), _negated=True),
                    models.Q(("state", "failed"), _negated=True),
                    ("leased_by", ""),
                ),
                fields=["state", "account", "id", "kind", "size_bytes"],
                name="free_undone",
            ),
        ),
    ]
