from importlib import import_module

import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

name_index = import_module("webui.migrations.0020_name_index")


class Migration(migrations.Migration):
    replaces = [
        ("webui", "0001_initial"),
        ("webui", "0002_connection_and_selection"),
        ("webui", "0003_people_and_devices"),
        ("webui", "0004_language"),
        ("webui", "0005_pairing"),
        ("webui", "0006_sent"),
        ("webui", "0007_send_token"),
        ("webui", "0008_watched"),
        ("webui", "0009_share"),
        ("webui", "0010_hidden_wish"),
        ("webui", "0011_unread_facts"),
        ("webui", "0012_release"),
        ("webui", "0013_grants_and_activity"),
        ("webui", "0014_throttle"),
        ("webui", "0015_unknown_sizes"),
        ("webui", "0016_taken_name"),
        ("webui", "0017_resumable_uploads"),
        ("webui", "0018_shared_pages"),
        ("webui", "0019_held_deletes"),
        ("webui", "0020_name_index"),
        ("webui", "0021_sort_order"),
        ("webui", "0022_full_name_index"),
        ("webui", "0023_throttle_every_guess"),
        ("webui", "0024_link_again"),
        ("webui", "0025_held_bytes"),
        ("webui", "0026_machine_of_uploads"),
        ("webui", "0027_activity_detail"),
        ("webui", "0028_owner_settings"),
        ("webui", "0029_read_names_again"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Connection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("url", models.CharField(max_length=500)),
                ("sealed", models.TextField()),
            ],
        ),
        migrations.CreateModel(
            name="NameIndex",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("service", models.CharField(max_length=16, unique=True)),
                ("wanted_at", models.DateTimeField()),
                ("next_at", models.DateTimeField()),
                ("is_full", models.BooleanField(db_default=False)),
            ],
        ),
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
        migrations.CreateModel(
            name="Throttle",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("count", models.PositiveIntegerField()),
                ("since", models.DateTimeField()),
                ("next_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                (
                    "last_login",
                    models.DateTimeField(blank=True, null=True, verbose_name="last login"),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "Someone already has this name."},
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="name",
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("guest", "Guest"), ("member", "Member"), ("owner", "Owner")],
                        max_length=10,
                    ),
                ),
                ("language", models.CharField(default="", max_length=10)),
                ("epoch", models.CharField(default="", max_length=16)),
                ("is_active", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        django.db.models.functions.text.Lower("username"),
                        name="one_person_a_name",
                        violation_error_message="Someone already has this name.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Activity",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(db_index=True)),
                ("kind", models.CharField(max_length=24)),
                ("person", models.CharField(default="", max_length=150)),
                ("subject", models.CharField(default="", max_length=255)),
                ("detail", models.CharField(default="", max_length=255)),
                ("address", models.CharField(default="", max_length=64)),
                ("count", models.PositiveIntegerField(default=1)),
            ],
            options={
                "indexes": [
                    models.Index(models.F("kind"), models.F("at"), name="activity_of_kind")
                ],
            },
        ),
        migrations.CreateModel(
            name="Device",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("agent", models.CharField(max_length=300)),
                ("address", models.CharField(max_length=64)),
                ("first_seen_at", models.DateTimeField()),
                ("last_seen_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="devices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HeldDelete",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("batch", models.CharField(db_index=True, max_length=22)),
                ("service", models.CharField(max_length=16)),
                ("folder", models.CharField(max_length=64)),
                ("kind", models.CharField(max_length=8)),
                ("entry_id", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=1024)),
                ("held_at", models.DateTimeField()),
                ("due_at", models.DateTimeField(db_index=True)),
                ("has_begun", models.BooleanField(default=False)),
            ],
            options={
                "indexes": [
                    models.Index(models.F("service"), models.F("folder"), name="held_in_folder")
                ],
            },
        ),
        migrations.CreateModel(
            name="HiddenWish",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("connection", models.CharField(max_length=16)),
                ("wish", models.CharField(max_length=64)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("connection"), models.F("wish"), name="one_row_a_hidden_wish"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IndexedFolder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("folder", models.CharField(max_length=64)),
                ("parent", models.CharField(default="", max_length=64)),
                ("name", models.CharField(default="", max_length=1024)),
                ("etag", models.CharField(default="", max_length=200)),
                ("is_read", models.BooleanField(default=False)),
                ("is_changed", models.BooleanField(default=False)),
                ("due_at", models.DateTimeField()),
                (
                    "index",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="webui.nameindex"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("index"),
                        models.F("is_read"),
                        models.F("due_at"),
                        name="folder_due",
                    ),
                    models.Index(models.F("index"), models.F("is_changed"), name="folder_changed"),
                    models.Index(models.F("index"), models.F("parent"), name="folder_in_parent"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("index"), models.F("folder"), name="one_row_a_folder"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="OneTimeLink",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("purpose", models.CharField(max_length=20)),
                (
                    "role",
                    models.CharField(
                        choices=[("guest", "Guest"), ("member", "Member"), ("owner", "Owner")],
                        default="",
                        max_length=10,
                    ),
                ),
                ("epoch", models.CharField(default="", max_length=16)),
                ("expires_at", models.DateTimeField()),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Pairing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("code_digest", models.CharField(db_index=True, default="", max_length=64)),
                ("session_key", models.CharField(default="", max_length=40)),
                ("epoch", models.CharField(default="", max_length=16)),
                ("agent", models.CharField(default="", max_length=300)),
                ("address", models.CharField(default="", max_length=64)),
                ("used_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProgramPassword",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Reservation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64)),
                ("network", models.CharField(max_length=64)),
                ("at", models.DateTimeField(db_index=True)),
                ("made_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("key"), models.F("network"), name="one_reservation_a_network"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ResumableUpload",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=32, unique=True)),
                ("service", models.CharField(max_length=64)),
                ("folder", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=255)),
                ("size_bytes", models.BigIntegerField()),
                ("safe_bytes", models.BigIntegerField(default=0)),
                ("boot", models.CharField(default="", max_length=36)),
                ("machine", models.CharField(db_default="", max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[("arriving", "Arriving"), ("moving", "Moving"), ("done", "Done")],
                        default="arriving",
                        max_length=8,
                    ),
                ),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Selection",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=43, unique=True)),
                ("service", models.CharField(max_length=16)),
                ("folder", models.CharField(max_length=64)),
                ("entries", models.JSONField()),
                ("is_whole", models.BooleanField()),
                ("size_bytes", models.BigIntegerField(null=True)),
                ("expires_at", models.DateTimeField(db_index=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SendToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Sent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("connection", models.CharField(max_length=16)),
                ("transfer_id", models.CharField(blank=True, max_length=64)),
                ("info_hash", models.CharField(blank=True, max_length=40)),
                ("title", models.CharField(blank=True, max_length=1024)),
                ("source_kind", models.CharField(max_length=8)),
                ("source", models.TextField(blank=True)),
                ("torrent", models.BinaryField(null=True)),
                ("folder_id", models.CharField(blank=True, max_length=64)),
                ("size_bytes", models.BigIntegerField(null=True)),
                ("added_at", models.DateTimeField()),
                ("state", models.CharField(blank=True, max_length=16)),
                ("reason", models.CharField(blank=True, max_length=64)),
                ("done_at", models.DateTimeField(null=True)),
                ("cleared_at", models.DateTimeField(null=True)),
                ("created_folder_id", models.CharField(blank=True, max_length=64)),
                ("created_file_id", models.CharField(blank=True, max_length=64)),
                (
                    "added_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(models.F("connection"), models.F("cleared_at"), name="sent_shown")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("connection"),
                        models.F("transfer_id"),
                        condition=models.Q(("transfer_id", ""), _negated=True),
                        name="one_row_a_transfer",
                    ),
                    models.UniqueConstraint(
                        models.F("connection"),
                        models.F("info_hash"),
                        condition=models.Q(
                            ("transfer_id", ""), models.Q(("info_hash", ""), _negated=True)
                        ),
                        name="one_row_a_hash_without_id",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Share",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("password_mark", models.CharField(max_length=64)),
                ("service", models.CharField(max_length=16)),
                ("kind", models.CharField(max_length=6)),
                ("entry_id", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=255)),
                ("expires_at", models.DateTimeField(db_index=True, null=True)),
                ("folder", models.CharField(db_default="", max_length=64)),
                ("only", models.JSONField(null=True)),
                ("label", models.CharField(db_default="", max_length=60)),
                ("password", models.CharField(db_default="", max_length=128)),
                ("most_uses", models.PositiveIntegerField(null=True)),
                ("uses", models.PositiveIntegerField(db_default=0)),
                ("takes_files", models.BooleanField(db_default=False)),
                ("most_bytes", models.BigIntegerField(null=True)),
                ("received_bytes", models.BigIntegerField(db_default=0)),
                ("sealed", models.TextField(db_default="")),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="HeldBytes",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("size_bytes", models.BigIntegerField()),
                ("until", models.DateTimeField()),
                (
                    "share",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="held",
                        to="webui.share",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="SortOrder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("service", models.CharField(max_length=16)),
                ("folder", models.CharField(max_length=64)),
                ("sort", models.CharField(max_length=8)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("user"),
                        models.F("service"),
                        models.F("folder"),
                        name="one_order_a_folder",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Watched",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("service", models.CharField(max_length=16)),
                ("file", models.CharField(max_length=64)),
                ("folder", models.CharField(max_length=64)),
                ("position_seconds", models.FloatField(default=0)),
                ("duration_seconds", models.FloatField(default=0)),
                ("is_watched", models.BooleanField(default=False)),
                ("updated_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("user"),
                        models.F("service"),
                        models.F("folder"),
                        name="watched_in_folder",
                    ),
                    models.Index(models.F("service"), models.F("file"), name="watched_of_file"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("user"),
                        models.F("service"),
                        models.F("file"),
                        name="one_position_a_film",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IndexedEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=8)),
                ("entry_id", models.CharField(max_length=64)),
                ("name", models.CharField(max_length=1024)),
                ("search_text", models.TextField()),
                ("size_bytes", models.BigIntegerField(null=True)),
                ("added", models.BigIntegerField()),
                (
                    "folder",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="webui.indexedfolder"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["-added", "-id"], name="newest_indexed"),
                    models.Index(fields=["entry_id"], name="entry_by_id"),
                ],
            },
        ),
        migrations.RunPython(name_index.create_index, name_index.drop_index),
    ]
