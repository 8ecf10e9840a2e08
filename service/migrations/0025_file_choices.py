import django.db.models.deletion
from django.db import migrations, models

COUNT = models.IntegerField(db_default=0, default=0)
FLAG = models.BooleanField(db_default=False, default=False)
COLUMNS = (
    ("transfer", "choice", "integer DEFAULT 0", COUNT),
    ("transfer", "file_count", "integer DEFAULT 0", COUNT.clone()),
    ("transfer", "chooses", "bool DEFAULT false", FLAG),
    ("wish", "chooses", "bool DEFAULT false", FLAG.clone()),
)


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0024_transfer_rank"),
    ]

    operations = [
        migrations.CreateModel(
            name="TransferFiles",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("files", models.JSONField()),
                ("unwanted", models.JSONField()),
                ("percents", models.JSONField(default=list)),
                (
                    "transfer",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, to="service.transfer"
                    ),
                ),
            ],
        ),
        *(
            migrations.SeparateDatabaseAndState(
                # For SQLite, Django would copy the table, and forget which ids were in use.
                database_operations=[
                    migrations.RunSQL(
                        f"ALTER TABLE service_{model} ADD COLUMN {name} {column} NOT NULL",
                        f"ALTER TABLE service_{model} DROP COLUMN {name}",
                    )
                ],
                state_operations=[migrations.AddField(model, name, field)],
            )
            for model, name, column, field in COLUMNS
        ),
    ]
