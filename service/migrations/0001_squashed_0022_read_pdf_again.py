from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

search = import_module("service.migrations.0013_search")


class Migration(migrations.Migration):
    replaces = [
        ("service", "0001_initial"),
        ("service", "0002_find_undone_transfers"),
        ("service", "0003_run_transfers"),
        ("service", "0004_media"),
        ("service", "0006_library_generation"),
        ("service", "0008_guesses"),
        ("service", "0009_import_records"),
        ("service", "0010_file_by_size"),
        ("service", "0011_claim_indexes"),
        ("service", "0012_media_workers"),
        ("service", "0013_search"),
        ("service", "0014_deleted_items"),
        ("service", "0015_deleted_content"),
        ("service", "0016_moved_entries"),
        ("service", "0017_saved_fetches"),
        ("service", "0018_camera"),
        ("service", "0019_unpacking"),
        ("service", "0020_upload_promises"),
        ("service", "0021_free_kinds"),
        ("service", "0022_read_pdf_again"),
    ]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Discarded",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("blob", models.CharField(db_index=True, max_length=32)),
                ("at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name="Guesses",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=64, unique=True)),
                ("count", models.PositiveIntegerField()),
                ("since", models.DateTimeField(db_index=True)),
            ],
        ),
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
        migrations.CreateModel(
            name="MediaWorker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("address", models.CharField(max_length=300, unique=True)),
                ("alive_until", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="TorrentFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("content", models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=60, unique=True)),
                ("alive_until", models.DateTimeField()),
                ("is_engine_alive", models.BooleanField(default=False)),
            ],
        ),
        migrations.CreateModel(
            name="Account",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("email", models.CharField(max_length=254, unique=True)),
                ("password", models.CharField(max_length=128)),
                ("secret_digest", models.CharField(default="", max_length=64)),
                ("link_key", models.CharField(max_length=64)),
                (
                    "kind",
                    models.CharField(choices=[("paid", "Paid"), ("free", "Free")], max_length=4),
                ),
                ("keeps_deleted", models.BooleanField(db_default=False, default=False)),
                ("space_max_bytes", models.BigIntegerField()),
                ("space_used_bytes", models.BigIntegerField(default=0)),
                ("library_revision", models.BigIntegerField(default=0)),
                ("transfers_revision", models.BigIntegerField(default=0)),
                ("media_revision", models.BigIntegerField(default=0)),
                ("changed_at", models.DateTimeField()),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("space_used_bytes__gte", 0)),
                        name="space_used_is_never_negative",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="DeletedItem",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("batch", models.BigIntegerField(db_index=True)),
                ("is_folder", models.BooleanField()),
                ("entry_id", models.BigIntegerField()),
                ("name", models.CharField(max_length=255)),
                ("folder_id", models.BigIntegerField()),
                ("path", models.TextField()),
                ("lineage", models.TextField()),
                ("incoming", models.JSONField(null=True)),
                ("size_bytes", models.BigIntegerField()),
                ("deleted_at", models.DateTimeField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DeletedFolder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("entry_id", models.BigIntegerField()),
                ("parent_id", models.BigIntegerField()),
                ("name", models.CharField(max_length=255)),
                ("name_key", models.CharField(max_length=255)),
                ("search_text", models.TextField()),
                ("lineage", models.TextField()),
                ("size_bytes", models.BigIntegerField()),
                ("updated_at", models.DateTimeField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.deleteditem"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Folder",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("name_key", models.CharField(max_length=255)),
                ("search_text", models.TextField(db_default="")),
                ("lineage", models.TextField(db_index=True)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("updated_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="folders",
                        to="service.folder",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("search_text", "")),
                        fields=["id"],
                        name="folder_without_text",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("parent", "name_key"), name="one_folder_a_name"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("parent", None)), fields=("account",), name="one_root"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KnownNetwork",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("network", models.CharField(max_length=64)),
                ("seen_at", models.DateTimeField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="service.account"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("account", "network"), name="one_row_a_known_network"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Media",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sha1", models.CharField(max_length=40)),
                ("size_bytes", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("wanted", "Wanted"),
                            ("probed", "Probed"),
                            ("refused", "Refused"),
                        ],
                        default="wanted",
                        max_length=7,
                    ),
                ),
                ("tries", models.IntegerField(default=0)),
                ("leased_until", models.DateTimeField(null=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("picture", "Picture"),
                            ("video", "Video"),
                            ("audio", "Audio"),
                            ("other", "Other"),
                        ],
                        default="",
                        max_length=7,
                    ),
                ),
                ("reason", models.CharField(default="", max_length=200)),
                ("has_picture", models.BooleanField(default=False)),
                ("duration_ms", models.BigIntegerField(null=True)),
                ("width", models.IntegerField(null=True)),
                ("height", models.IntegerField(null=True)),
                ("probed", models.JSONField(default=dict)),
                ("taken", models.CharField(max_length=19, null=True)),
                ("camera", models.JSONField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "wanted")), fields=["id"], name="wanted_media"
                    ),
                    models.Index(
                        condition=models.Q(
                            ("camera__isnull", True),
                            ("has_picture", True),
                            ("kind", "picture"),
                            ("state", "probed"),
                        ),
                        fields=["id"],
                        name="picture_without_camera",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("sha1", "size_bytes"), name="one_a_content")
                ],
            },
        ),
        migrations.CreateModel(
            name="File",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=255)),
                ("name_key", models.CharField(max_length=255)),
                ("search_text", models.TextField(db_default="")),
                ("size_bytes", models.BigIntegerField()),
                ("sha1", models.CharField(max_length=40)),
                ("crc32", models.BigIntegerField()),
                ("blob", models.CharField(db_index=True, max_length=32)),
                ("updated_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
                (
                    "folder",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="files",
                        to="service.folder",
                    ),
                ),
                (
                    "media",
                    models.ForeignObject(
                        from_fields=["sha1", "size_bytes"],
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="files",
                        to="service.media",
                        to_fields=["sha1", "size_bytes"],
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["sha1", "size_bytes"], name="file_by_content"),
                    models.Index(fields=["account", "size_bytes"], name="file_by_size"),
                    models.Index(
                        condition=models.Q(("search_text", "")),
                        fields=["id"],
                        name="file_without_text",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("folder", "name_key"), name="one_file_a_name")
                ],
            },
        ),
        migrations.CreateModel(
            name="MovedEntry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("batch", models.BigIntegerField(db_index=True, default=0)),
                ("is_folder", models.BooleanField()),
                ("entry_id", models.BigIntegerField()),
                ("folder_id", models.BigIntegerField(null=True)),
                ("name", models.CharField(max_length=255)),
                ("size_bytes", models.BigIntegerField()),
                ("target_id", models.BigIntegerField()),
                ("deleted_item_id", models.BigIntegerField(null=True)),
                ("moved_at", models.DateTimeField(db_index=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Transfer",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("magnet", "Magnet"),
                            ("torrent", "Torrent"),
                            ("url", "Url"),
                            ("upload", "Upload"),
                            ("zip", "Zip"),
                        ],
                        max_length=7,
                    ),
                ),
                ("source", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("info_hash_v1", models.CharField(default="", max_length=40)),
                ("info_hash_v2", models.CharField(default="", max_length=64)),
                ("title", models.CharField(max_length=255)),
                ("title_key", models.CharField(max_length=255)),
                ("is_private", models.BooleanField(default=False)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("leased_by", models.CharField(default="", max_length=60)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("metadata", "Metadata"),
                            ("downloading", "Downloading"),
                            ("stalled", "Stalled"),
                            ("moving", "Moving"),
                            ("done", "Done"),
                            ("no_room", "No Room"),
                            ("failed", "Failed"),
                            ("stopped", "Stopped"),
                        ],
                        default="queued",
                        max_length=11,
                    ),
                ),
                ("reason", models.CharField(default="", max_length=60)),
                ("sentence", models.CharField(default="", max_length=300)),
                ("notice", models.CharField(default="", max_length=60)),
                ("strikes", models.IntegerField(default=0)),
                ("is_seeding", models.BooleanField(default=False)),
                ("uploaded_bytes", models.BigIntegerField(default=0)),
                ("progress_percent", models.FloatField(default=0)),
                ("download_bytes_per_second", models.BigIntegerField(default=0)),
                ("upload_bytes_per_second", models.BigIntegerField(default=0)),
                ("peers_connected", models.IntegerField(default=0)),
                ("peers_sending", models.IntegerField(default=0)),
                ("peers_receiving", models.IntegerField(default=0)),
                ("seeders", models.IntegerField(default=0)),
                ("leechers", models.IntegerField(default=0)),
                ("folder_created_id", models.BigIntegerField(null=True)),
                ("file_created_id", models.BigIntegerField(null=True)),
                ("updated_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
                (
                    "folder",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.folder"
                    ),
                ),
                (
                    "torrent",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="service.torrentfile",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "done"), _negated=True),
                        fields=["account"],
                        name="undone_by_account",
                    ),
                    models.Index(
                        condition=models.Q(("state", "done"), _negated=True),
                        fields=["folder", "title_key"],
                        name="undone_by_name",
                    ),
                    models.Index(
                        condition=models.Q(("is_seeding", True)), fields=["id"], name="seeding"
                    ),
                    models.Index(
                        condition=models.Q(("leased_by", ""), _negated=True),
                        fields=["leased_by"],
                        name="leased",
                    ),
                    models.Index(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            models.Q(("state", "failed"), _negated=True),
                            ("leased_by", ""),
                        ),
                        fields=["state", "account", "id", "kind", "size_bytes"],
                        name="free_undone",
                    ),
                    models.Index(
                        condition=models.Q(("is_seeding", True), ("leased_by", "")),
                        fields=["id"],
                        name="free_seeding",
                    ),
                    models.Index(
                        condition=models.Q(
                            models.Q(("leased_by", ""), _negated=True),
                            models.Q(("info_hash_v1", ""), _negated=True),
                        ),
                        fields=["info_hash_v1"],
                        name="leased_v1",
                    ),
                    models.Index(
                        condition=models.Q(
                            models.Q(("leased_by", ""), _negated=True),
                            models.Q(("info_hash_v2", ""), _negated=True),
                        ),
                        fields=["info_hash_v2"],
                        name="leased_v2",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("info_hash_v1", ""), _negated=True),
                        fields=("account", "info_hash_v1"),
                        name="one_transfer_a_v1",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("info_hash_v2", ""), _negated=True),
                        fields=("account", "info_hash_v2"),
                        name="one_transfer_a_v2",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedFetch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("resume", models.JSONField()),
                ("parts", models.JSONField()),
                (
                    "transfer",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, to="service.transfer"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ImportRecord",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("folder_id", models.BigIntegerField()),
                ("files", models.JSONField()),
                (
                    "transfer",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, to="service.transfer"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="UploadPromise",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("size_bytes", models.BigIntegerField()),
                ("expires_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, to="service.account"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Wish",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("title", models.CharField(max_length=255)),
                ("size_bytes", models.BigIntegerField()),
                ("info_hash_v1", models.CharField(default="", max_length=40)),
                ("info_hash_v2", models.CharField(default="", max_length=64)),
                ("magnet", models.TextField()),
                ("is_private", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.account"
                    ),
                ),
                (
                    "folder",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.folder"
                    ),
                ),
                (
                    "torrent",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="service.torrentfile",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DeletedFile",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("entry_id", models.BigIntegerField()),
                ("folder_id", models.BigIntegerField()),
                ("name", models.CharField(max_length=255)),
                ("name_key", models.CharField(max_length=255)),
                ("search_text", models.TextField()),
                ("size_bytes", models.BigIntegerField()),
                ("sha1", models.CharField(max_length=40)),
                ("crc32", models.BigIntegerField()),
                ("blob", models.CharField(db_index=True, max_length=32)),
                ("updated_at", models.DateTimeField()),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, to="service.deleteditem"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["sha1", "size_bytes"], name="deleted_content")],
            },
        ),
        migrations.RunPython(search.create_indexes, search.drop_indexes),
    ]
