from django.db import migrations, models

ID = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0031_drive"),
    ]

    operations = [
        migrations.CreateModel(
            name="Category",
            fields=[
                ("id", ID),
                ("name", models.CharField(max_length=100, unique=True)),
            ],
        ),
        migrations.AddField(
            model_name="sent",
            name="category",
            field=models.CharField(max_length=100, null=True),
        ),
        migrations.AddField(model_name="sent", name="tags", field=models.TextField(null=True)),
        migrations.AddField(
            model_name="sent", name="handed_path", field=models.TextField(null=True)
        ),
        migrations.AddField(
            model_name="sent", name="handed_at", field=models.DateTimeField(null=True)
        ),
        migrations.AddField(
            model_name="sent",
            name="handover_trouble",
            field=models.CharField(max_length=64, null=True),
        ),
    ]
