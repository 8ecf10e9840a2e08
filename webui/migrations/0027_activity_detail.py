from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0026_machine_of_uploads"),
    ]

    operations = [
        migrations.AlterField(
            model_name="activity",
            name="detail",
            field=models.CharField(default="", max_length=255),
        ),
    ]
