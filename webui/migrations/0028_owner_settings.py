from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0027_activity_detail"),
    ]

    operations = [
        migrations.CreateModel(
            name="OwnerSetting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40, unique=True)),
                ("value", models.JSONField()),
            ],
        ),
    ]
