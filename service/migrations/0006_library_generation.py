from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0004_media"),
    ]

    operations = [
        migrations.CreateModel(
            name="Library",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("generation", models.BigIntegerField(default=0)),
            ],
        ),
    ]
