import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0032_categories"),
    ]

    operations = [
        migrations.CreateModel(
            name="Channel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("device", "Device"),
                            ("ntfy", "Ntfy"),
                            ("webhook", "Webhook"),
                            ("apprise", "Apprise"),
                            ("feed", "Feed"),
                        ],
                        max_length=8,
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("sealed", models.TextField()),
                ("host", models.CharField(max_length=255)),
                ("topics", models.CharField(max_length=60)),
                ("language", models.CharField(max_length=10)),
                ("epoch", models.CharField(max_length=16)),
                ("created_at", models.DateTimeField()),
                ("trouble", models.CharField(max_length=20)),
                ("resumes_at", models.DateTimeField(null=True)),
                (
                    "device",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, to="webui.device"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="channels",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Notice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=120)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("space", "Space"),
                            ("device", "Device"),
                            ("test", "Test"),
                        ],
                        max_length=8,
                    ),
                ),
                ("subject", models.CharField(max_length=300)),
                ("at", models.DateTimeField(db_index=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("send_at", models.DateTimeField(db_index=True, null=True)),
                (
                    "channel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notices",
                        to="webui.channel",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("channel"), models.F("key"), name="one_notice_an_event"
                    )
                ],
            },
        ),
    ]
