from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0011_unread_facts"),
    ]

    operations = [
        migrations.CreateModel(
            name="Release",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("version", models.CharField(max_length=32)),
            ],
        ),
    ]
