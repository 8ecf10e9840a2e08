import django.db.models.deletion
from django.db import migrations, models


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
        migrations.AddField(
            model_name="transfer",
            name="choice",
            field=models.IntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="transfer",
            name="chooses",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="wish",
            name="chooses",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
