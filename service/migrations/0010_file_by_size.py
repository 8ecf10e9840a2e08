from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0009_import_records"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="file",
            index=models.Index(fields=["account", "size_bytes"], name="file_by_size"),
        ),
    ]
