"""Settings, all from environment variables; the embedded defaults need nothing beside the packages.

One idea: `HEADRACE_DATA` is the only folder Headrace writes to. Everything else may point elsewhere (see the README's table).
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from portal.theme import UNFOLD  # noqa: F401  (the administration reads it from here)

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = Path(os.environ.get("HEADRACE_DATA") or BASE_DIR / "data").resolve()


def env(name: str, default: str = "") -> str:
    return os.environ.get(name, default)


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_bool(name: str, default: bool = False) -> bool:
    return env(name, "1" if default else "0").lower() in {"1", "true", "yes", "on"}


def options_of(text: str) -> dict[str, Any]:
    """A JSON object, as text."""
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise ImproperlyConfigured(f"SLURM_OPTIONS is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ImproperlyConfigured('SLURM_OPTIONS is not a JSON object such as {"shared": true}')
    return found


def kept_secret(path: Path) -> str:
    """The embedded default's SECRET_KEY: made once, kept in the data folder with mode 600."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    except OSError:
        return secrets.token_urlsafe(50)  # unreadable folder: the start-up checks say so in one clear line
    key = secrets.token_urlsafe(50)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    except OSError:
        return key
    with os.fdopen(descriptor, "w") as file:
        file.write(key)
    return key


PRODUCTION = bool(env("SECRET_KEY"))  # a deployment names its own key; the embedded default keeps one
SECRET_KEY = env("SECRET_KEY") or kept_secret(DATA_DIR / "secret_key")
DEBUG = env_bool("DEBUG")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS") or ([] if PRODUCTION else ["*"])
CSRF_TRUSTED_ORIGINS = env_list("CSRF_TRUSTED_ORIGINS")
HTTPS = env_bool("HTTPS", PRODUCTION)

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "jobs",
    "portal.apps.PortalConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "csp.middleware.CSPMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "portal.urls"
ASGI_APPLICATION = "portal.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.context.everywhere",
            ],
        },
    },
]

# --- database: SQLite in the data folder, or PostgreSQL ---------------------------------------------------------------
DATABASES: dict[str, Any] = {
    "default": dj_database_url.parse(env("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'headrace.sqlite3'}", conn_max_age=600)
}
SQLITE = DATABASES["default"]["ENGINE"].endswith("sqlite3")
if SQLITE:
    DATABASES["default"].setdefault("OPTIONS", {}).update(
        transaction_mode="IMMEDIATE",
        timeout=30,
        init_command="PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; PRAGMA busy_timeout=30000;",
    )
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- broker and hints -------------------------------------------------------------------------------------------------
REDIS_URL = env("REDIS_URL")
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1) or "memory://"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 5, "socket_connect_timeout": 2, "max_retries": 0}
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = int(env("HEADRACE_WORKER_THREADS", "8"))
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_DB_REUSE_MAX = 1_000_000  # a connection per task costs eight times the task
CELERY_TASK_DEFAULT_QUEUE = "turns"

# --- files ------------------------------------------------------------------------------------------------------------
LOGS_DIR = Path(env("HEADRACE_LOGS") or DATA_DIR / "logs")
FILES_DIR = Path(env("HEADRACE_FILES") or DATA_DIR / "files")
UPLOADS_DIR = DATA_DIR / "uploads"
CLUSTERS_DIR = Path(env("HEADRACE_CLUSTERS") or DATA_DIR / "clusters")
LOG_HEAD = int(env("HEADRACE_LOG_HEAD", str(1 << 30)))
LOG_TAIL = int(env("HEADRACE_LOG_TAIL", str(64 << 20)))
UPLOAD_CHUNK = 8 << 20
S3_BUCKET = env("S3_BUCKET")
STORAGES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": str(FILES_DIR)}},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if S3_BUCKET:
    STORAGES["default"] = {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {"bucket_name": S3_BUCKET, "endpoint_url": env("S3_ENDPOINT") or None, "region_name": env("S3_REGION") or None},
    }
STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS: list[Any] = [
    *[(prefix, BASE_DIR / "static" / prefix) for prefix in ("css", "js")],
    ("npm", BASE_DIR / "static" / "node_modules"),
    ("build", BASE_DIR / "static" / "build"),
]
STATICFILES_DIRS = [(prefix, path) for prefix, path in STATICFILES_DIRS if path.is_dir()]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 60

# --- hardware ---------------------------------------------------------------------------------------------------------
HOST, PORT, DEMO = env("HEADRACE_HOST", "127.0.0.1"), env("HEADRACE_PORT", "8000"), env_bool("HEADRACE_DEMO")  # of `up`
PORTAL_URL = env("PORTAL_URL")  # where agents and people reach this portal; `up` sets it
AGENT_URL = env("AGENT_URL") or PORTAL_URL
BACKENDS: dict[str, dict[str, Any]] = {
    "local": {
        "BACKEND": "jobs.backends.local.Local",
        "OPTIONS": {"folder": str(CLUSTERS_DIR), "cores": int(env("LOCAL_CORES", "0")) or None, "portal": AGENT_URL},
    },
}
ALLOW_NO_SANDBOX = env_bool("ALLOW_NO_SANDBOX")  # let everybody use a local backend on which no sandbox works
if env_bool("SLURM"):
    BACKENDS["slurm"] = {
        "BACKEND": "jobs.backends.slurm.Slurm",
        "OPTIONS": {"notes": str(DATA_DIR / "slurm"), "key": SECRET_KEY} | options_of(env("SLURM_OPTIONS")),
        "PORTAL": env("SLURM_PORTAL"),
        "CA": env("SLURM_CA"),
    }
APPS_URL = env("APPS_URL")  # another host name of this portal, for programs of workstations that are web pages

# --- API --------------------------------------------------------------------------------------------------------------
API_RATE = env("API_RATE", "3000/m")  # requests of one token, each web process counting for itself; a number / s, m, h or d
WEBHOOK_NETWORKS = env_list("WEBHOOK_NETWORKS")  # networks that are not public and that webhooks may call all the same

# --- money ------------------------------------------------------------------------------------------------------------
CURRENCY = env("CURRENCY", "€")
EMAIL_HOST = env("EMAIL_HOST", "")  # mails about budgets; empty: none are sent, the pages say it all the same
EMAIL_PORT = int(env("EMAIL_PORT", "25"))
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = env("EMAIL_USER"), env("EMAIL_PASSWORD")
EMAIL_USE_TLS, EMAIL_USE_SSL = env("EMAIL_SECURITY") == "starttls", env("EMAIL_SECURITY") == "tls"
EMAIL_TIMEOUT = 20  # seconds; a mail server that hangs must not hold a worker
DEFAULT_FROM_EMAIL = env("EMAIL_FROM", "headrace@localhost")

# --- people -----------------------------------------------------------------------------------------------------------
LOGIN_URL = "signin"
LOGIN_REDIRECT_URL = "jobs"
LOGOUT_REDIRECT_URL = "signin"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
USE_TZ = True
TIME_ZONE = env("TIME_ZONE", "UTC")
LANGUAGE_CODE = "en"
USE_I18N = False

# --- safety -----------------------------------------------------------------------------------------------------------
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 16 << 20
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
FILE_UPLOAD_HANDLERS = ["portal.spooling.Handler"]
CONTENT_SECURITY_POLICY = {
    "EXCLUDE_URL_PREFIXES": ["/admin/"],
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "connect-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    },
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env("LOG_LEVEL", "INFO")},
    "loggers": {"django.request": {"level": "ERROR"}, "httpx": {"level": "WARNING"}},
}
