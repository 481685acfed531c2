"""Settings of the tests: a data folder of their own, the fake backend beside the local one, no broker."""

import os
import tempfile

os.environ.setdefault("HEADRACE_DATA", tempfile.mkdtemp(prefix="headrace-test-"))
os.environ.setdefault("SECRET_KEY", "")

from portal.settings import *  # noqa: E402, F403
from portal.settings import BACKENDS, STORAGES, TEMPLATES  # noqa: E402, F401

BACKENDS = {**BACKENDS, "fake": {"BACKEND": "jobs.backends.fake.Fake", "OPTIONS": {}}}
ALLOWED_HOSTS = ["*"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
CELERY_TASK_ALWAYS_EAGER = False
REDIS_URL = ""
