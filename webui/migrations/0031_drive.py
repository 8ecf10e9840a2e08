import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0030_token_purpose"),
    ]

    operations = [
        migrations.CreateModel(
            name="DriveLock",
            fields=[
                ("id", ID.clone()),
                ("service", models.CharField(max_length=16)),
                ("path", models.TextField()),
                ("token", models.CharField(max_length=64, unique=True)),
                ("is_shared", models.BooleanField()),
                ("is_deep", models.BooleanField()),
                ("owner", models.TextField()),
                ("seconds", models.PositiveIntegerField()),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DriveProperties",
            fields=[
                ("id", ID.clone()),
                ("service", models.CharField(max_length=16)),
                ("entry", models.CharField(max_length=72)),
                ("values", models.JSONField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("service"), models.F("entry"), name="one_row_an_entry"
                    )
                ],
            },
        ),
    ]
