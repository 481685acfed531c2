"""Settings of the tests: a data folder of their own, the fake backend beside the local one, no broker."""

import os
import tempfile

os.environ.setdefault("HEADRACE_DATA", tempfile.mkdtemp(prefix="headrace-test-"))
os.environ.setdefault("SECRET_KEY", "")

from portal.settings import *  # noqa: E402, F403
from portal.settings import BACKENDS, DATA_DIR, DATABASES, SQLITE  # noqa: E402

BACKENDS = {**BACKENDS, "fake": {"BACKEND": "jobs.backends.fake.Fake", "OPTIONS": {}}}
if SQLITE:  # a file, so that threads of a test see the same database
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / f"test-{os.getpid()}.sqlite3")}
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CELERY_TASK_ALWAYS_EAGER = False
REDIS_URL = ""
