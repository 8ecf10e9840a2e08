import django.contrib.auth.validators
import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("webui", "0015_unknown_sizes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="user",
            name="username",
            field=models.CharField(
                error_messages={"unique": "Someone already has this name."},
                max_length=150,
                unique=True,
                validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                verbose_name="name",
            ),
        ),
        migrations.AlterConstraint(
            model_name="user",
            name="one_person_a_name",
            constraint=models.UniqueConstraint(
                django.db.models.functions.text.Lower("username"),
                name="one_person_a_name",
                violation_error_message="Someone already has this name.",
            ),
        ),
    ]
