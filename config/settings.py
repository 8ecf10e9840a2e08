"""Settings, from the environment or `.env`. The table in docs/operations.md explains each."""

import errno
import os
from datetime import date, timedelta
from pathlib import Path

from common.storage import durable
from config.environment import Environment, home_of_installed, read_or_make_key
from host.storage import databases

BASE_DIR = Path(__file__).resolve().parent.parent
# An upgrade replaces the folder of an installed package, so that Ferry keeps nothing there.
HOME = BASE_DIR if (BASE_DIR / "Makefile").exists() else home_of_installed()
env = Environment(HOME, os.environ.get("ENV_FILE"))

# Paths

DATA_DIR = env.path("DATA_DIR", HOME / "data")
HOST = env.host("HOST", "0.0.0.0")  # noqa: S104  A phone in the home network must reach it.
PORT = env.integer("PORT", 8000, least=1, most=65535)
# Behind a proxy, https is the proxy's; on loopback, browsers trust http as they do https.
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
is_alone = not TRUSTED_PROXIES and HOST not in ("localhost", "127.0.0.1", "::1")
HTTPS_PORT = env.integer("HTTPS_PORT", 8443 * is_alone, least=0, most=65535)
LOCAL_NAME = env.label("LOCAL_NAME", "ferry" if is_alone else "off")
TLS_CERT = env.path("TLS_CERT", None)
TLS_KEY = env.path("TLS_KEY", None)
URL_PREFIX = env.prefix("URL_PREFIX")
WEB_PROCESSES = env.integer("WEB_PROCESSES", 2, least=1, most=64)
# Threads are made when they are needed. Two processes then hold 400 slow readers, even if these
# aren't split evenly.
WEB_THREADS = env.integer("WEB_THREADS", 256, least=4, most=1024)
STALLED_SECONDS = env.integer("STALLED_SECONDS", 60, least=1, most=3600)
ACCEL = env.choice("ACCEL", "", ["", "nginx"])

# Only the user Ferry runs as may read what Ferry writes.
os.umask(0o077)
try:
    durable.make_folder(DATA_DIR)
    SECRET_KEY = env.text("SECRET_KEY") or read_or_make_key(DATA_DIR / "secret_key")
    (DATA_DIR / "static").mkdir(exist_ok=True)
except (OSError, UnicodeDecodeError) as trouble:
    if isinstance(trouble, OSError) and trouble.errno in (errno.ENOSPC, errno.EDQUOT):
        advice = "The disk is full. Free some space on it, then start Ferry again."
        raise SystemExit(f"{advice} DATA_DIR is {DATA_DIR}.") from None
    env.refuse_folder("DATA_DIR", DATA_DIR, trouble)
if not SECRET_KEY.strip():
    # A new key would end every session and link, so that is the owner's decision.
    env.refuse("DATA_DIR", "a folder whose file secret_key holds a key, or is gone and made anew")

# Access

DEBUG = env.flag("DEBUG", default=False)
TRUSTED_HOSTS = env.host_names("ALLOWED_HOSTS")
METRICS_TOKEN = env.secret("METRICS_TOKEN")
RELEASES_URL = env.text("RELEASES_URL")
HSTS_SECONDS = env.integer("HSTS_SECONDS", 0, least=0, most=63_072_000)
# host.web.front checks the host against this machine's names, which may change while Ferry runs.
ALLOWED_HOSTS = ["*"]

SESSION_ENGINE = "webui.signin.session_store"
SESSION_COOKIE_NAME = f"ferry_session_{PORT}"
SESSION_COOKIE_AGE = 30 * 24 * 3600
CSRF_COOKIE_NAME = f"ferry_csrf_{PORT}"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "webui.errors.answers.csrf_failure"
SESSION_COOKIE_PATH = CSRF_COOKIE_PATH = f"{URL_PREFIX}/"

AUTH_USER_MODEL = "webui.User"
LOGIN_URL = "signin"
PASSWORD_HASHERS = ["common.passwords.Argon2"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

# Django

INSTALLED_APPS = [
    "host.apps.Ferry",
    "webui",
    "service",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
]
MEASURING = ["host.monitoring.recording.measure"] if METRICS_TOKEN else []
MIDDLEWARE = [
    *MEASURING,
    "webui.middleware.set_headers",
    "host.web.front.refuse_foreign_host",
    "host.health.answer_first",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "webui.middleware.CompressPages",
    "webui.middleware.cookies_by_scheme",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "webui.middleware.BodyLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "webui.signin.session_store.SessionUser",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "webui.middleware.prefer_chosen_language",
    "webui.signin.devices.see",
    "webui.middleware.name_person",
    "webui.middleware.answering",
    "webui.middleware.Errors",
]
# For /rest and /content, which have no sessions, cookies, or pages.
SERVICE_MIDDLEWARE = [
    *MEASURING,
    "config.embedded.service.set_headers",
    "config.embedded.service.refuse_foreign_host",
    "config.embedded.service.only_embedded",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.csrf",
                "django.contrib.messages.context_processors.messages",
                "webui.shell.context.context",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.static",
                "webui.templatetags.site",
            ],
            "loaders": [
                ("django.template.loaders.cached.Loader", ["webui.template_loader.Loader"]),
            ],
        },
    },
]

# Forms

# Ten thousand selected entries are as many fields.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 12_000
# That many fields of 25 letters. A form of percent signs takes 175 times its size in memory.
DATA_UPLOAD_MAX_MEMORY_SIZE = 300_000
# Forms carry no files: a view that takes files reads them itself, after checking the sender.
FILE_UPLOAD_HANDLERS: list[str] = []

# Databases and caches

DATABASES = {
    "default": env.database(
        "DATABASE_URL",
        {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "ferry.sqlite3")},
    )
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # FULL: what Ferry has acknowledged survives a power cut. The limit is for the page caches of a
    # process: each of its threads has a connection, which would keep up to 2 MB.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "factory": databases.SQLite,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
        f"PRAGMA soft_heap_limit={32 * 2**20};",
    }
    # Tests use a real file too: SQLite in memory never waits for a lock.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
    DATABASES["default"]["CONN_MAX_AGE"] = 60
elif DATABASES["default"]["ENGINE"].endswith("postgresql"):
    DATABASES["default"]["ENGINE"] = "host.storage.postgresql"
    # A thread takes a connection while it makes a response, not while it receives or sends one.
    DATABASES["default"]["CONN_MAX_AGE"] = 0
    DATABASES["default"]["OPTIONS"] = {
        "pool": {"most": max(4, WEB_THREADS // 16)},
        **databases.LOST_SERVER,
        **DATABASES["default"].get("OPTIONS", {}),
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": env.cache(
        "CACHE_URL",
        {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": str(DATA_DIR / "cache"),
        },
    )
}

# The service that the site shows

# Empty: the service in this process, unless the owner stored a connection.
SERVICE_URL = env.secret_url("SERVICE_URL")
SERVICE_NAMING = env.choice("SERVICE_NAMING", "auto", ["auto", "transfer", "torrent"])
SERVICE_MEDIA_HOSTS = env.host_names("SERVICE_MEDIA_HOSTS")
NOTICE_HOSTS = env.host_names("NOTICE_HOSTS")
# Each stream that the site relays holds a thread while the service sends; pages need the rest.
STREAMS_PER_PROCESS = env.integer(
    "STREAMS_PER_PROCESS", WEB_THREADS * 7 // 8, least=1, most=WEB_THREADS - 1
)

# The service

STORE_URL = env.object_store("STORE_URL")
STORE_PUBLIC_URL = env.origin("STORE_PUBLIC_URL")
BLOB_GRACE = timedelta(seconds=env.integer("BLOB_GRACE", 3600, least=0, most=604_800))
DELETED_DAYS = env.integer("DELETED_DAYS", 30, least=0, most=3650)
ORPHAN_DAYS = env.integer("ORPHAN_DAYS", 30, least=0, most=3650)
QUEUE_LIMIT = env.integer("QUEUE_LIMIT", 2000, least=1, most=100_000)
ACTIVE_TRANSFERS = env.integer("ACTIVE_TRANSFERS", 5, least=1, most=1000)
NO_PEERS_SECONDS = env.integer("NO_PEERS_SECONDS", 120, least=1, most=86_400)
SEED_RATIO = env.decimal("SEED_RATIO", 1.0, most=1000)
SEED_MINUTES = env.integer("SEED_MINUTES", 60, least=0, most=525_600)
DOWNLOAD_LIMIT = env.size("DOWNLOAD_LIMIT", 0)
UPLOAD_LIMIT = env.size("UPLOAD_LIMIT", 0)
TORRENT_PORT = env.integer("TORRENT_PORT", 6881, least=0, most=65535)
TORRENT_UTP = env.flag("TORRENT_UTP", default=True)
TORRENT_PORT_MAPPING = env.flag("TORRENT_PORT_MAPPING", default=False)
TORRENT_INTERFACE = env.text("TORRENT_INTERFACE")
TORRENT_PROXY = env.proxy("TORRENT_PROXY")
TORRENT_NETWORK = env.choice("TORRENT_NETWORK", "internet", ["internet", "loopback"])
FETCH_PRIVATE = env.flag("FETCH_PRIVATE", default=False)
FETCH_MAX_BYTES = env.size("FETCH_MAX_BYTES", 0)
MEDIA_JOBS = env.integer("MEDIA_JOBS", os.cpu_count() or 1, least=1, most=256)
WORKER_ROLES = env.choices("WORKER_ROLES", ["transfers", "media"])
WORKER_ADDRESS = env.address("WORKER_ADDRESS")
MEDIA_CACHE = env.integer("MEDIA_CACHE", 20_000, least=100, most=10**9) * 2**20
# A program's name or path; empty: the FFmpeg that came with Ferry.
FFMPEG = env.text("FFMPEG")
FREE_ACCESS_UNTIL = env.date("FREE_ACCESS_UNTIL", date(2015, 12, 14))

# What other programs of this machine find

# Empty: Ferry keeps what it fetched for itself.
HANDOVER_DIR = env.folder("HANDOVER_DIR")
# Of files. Folders may also be entered by those who may read them.
HANDOVER_MODE = env.mode("HANDOVER_MODE", 0o664)
HANDOVER_GROUP = env.group("HANDOVER_GROUP")
HANDOVER_DAYS = env.integer("HANDOVER_DAYS", 0, least=0, most=3650)

# Settings that owners can't change on the site, since the environment has them.
FIXED_SETTINGS = frozenset(env.fixed_names)

# Words

LANGUAGE_CODE = "en"
# Each in its own language: someone looking for theirs may not be able to read the current one.
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("zh-hans", "简体中文"),
]
LOCALE_PATHS = [BASE_DIR / "webui" / "locale"]
LANGUAGE_COOKIE_NAME = f"ferry_language_{PORT}"
TIME_ZONE = env.time_zone("TIME_ZONE", "UTC")

# Static files

STATIC_URL = f"{URL_PREFIX}/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
STORAGES = {
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "host.static_files.storage.HashedModules"
    },
}
WHITENOISE_STATIC_PREFIX = "/static/"
WHITENOISE_ALLOW_ALL_ORIGINS = False

# Logs: one line per event

LOG_FORMAT = env.choice("LOG_FORMAT", "text", ["text", "json"])
LOG_LEVEL = env.choice("LOG_LEVEL", "INFO", ["DEBUG", "INFO", "WARNING", "ERROR"])
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "traceback": {"()": "host.logs.WithTraceback"},
        "cut": {"()": "host.logs.CutConnections"},
        "outages": {"()": "host.storage.outage_log.Outages"},
    },
    "formatters": {
        "text": {"()": "host.logs.LineFormatter"},
        "json": {"()": "host.logs.JSONFormatter"},
    },
    "handlers": {
        "stdout": {
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stdout",
            "formatter": LOG_FORMAT,
            "filters": ["outages"],
        }
    },
    "root": {"handlers": ["stdout"], "level": "WARNING"},
    "loggers": {
        "ferry": {"level": LOG_LEVEL},
        "gunicorn.error": {
            "level": "WARNING",
            "handlers": ["stdout"],
            "filters": ["cut"],
            "propagate": False,
        },
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        # It warns of each HEAD response that Django made with a body, and sends only the head.
        "gunicorn.http.wsgi": {"level": "ERROR"},
        # Django's lines for 4xx responses contain paths, and paths may contain one-time links.
        "django.request": {"level": "ERROR", "filters": ["traceback"]},
        "django.security": {"level": "CRITICAL"},
    },
}
