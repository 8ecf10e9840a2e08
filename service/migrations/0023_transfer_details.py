from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("service", "0022_read_pdf_again"),
    ]

    operations = [
        migrations.AddField(
            model_name="transfer",
            name="details",
            field=models.TextField(null=True),
        ),
    ]
