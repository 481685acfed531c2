"""Settings of the tests: a data folder of their own, the fake backend beside the local one, no broker."""

import os
import tempfile

if worker := os.environ.get("PYTEST_XDIST_WORKER"):  # tests side by side: a folder for each, inside of what was given
    os.environ["HEADRACE_DATA"] = tempfile.mkdtemp(prefix=f"{worker}-", dir=os.environ.get("HEADRACE_DATA"))
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
