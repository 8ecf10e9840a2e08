from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0029_read_names_again"),
    ]

    operations = [
        # The table keeps its name: the previous version of Ferry may still be running.
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("SendToken", "Token"),
                migrations.AlterModelTable("Token", "webui_sendtoken"),
            ],
        ),
        migrations.AddField(
            model_name="token",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("send", "Send items"),
                    ("drive", "Open files as a drive"),
                    ("programs", "For other programs"),
                ],
                db_default="send",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="token", name="may_write", field=models.BooleanField(db_default=True)
        ),
        migrations.AddField(
            model_name="token",
            name="service",
            field=models.CharField(db_default="", max_length=16),
        ),
        migrations.AddField(
            model_name="token",
            name="folder",
            field=models.CharField(db_default="", max_length=64),
        ),
        migrations.AddField(
            model_name="token",
            name="folder_name",
            field=models.CharField(db_default="", max_length=255),
        ),
    ]
