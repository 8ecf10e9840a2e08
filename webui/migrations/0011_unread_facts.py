from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0010_hidden_wish"),
    ]

    operations = [
        migrations.RemoveField(model_name="watched", name="name"),
        migrations.RemoveField(model_name="connection", name="checked_at"),
    ]
