"""Every address and every socket x owner, member of the project, stranger, anonymous, admin.

The addresses come from the resolver: one that is not classified here fails the test, so that nobody forgets it. Expected is
what a GET (or the POST of an action) must not give away: 404 for strangers on what is somebody's, sign-in for the anonymous.
"""

from __future__ import annotations

import asyncio

import factories
import pytest
from channels.testing import WebsocketCommunicator
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from jobs import logs, outputs
from jobs.models import ApiToken, HomeCopy, StoredFile

pytestmark = pytest.mark.django_db(transaction=True)

ROLES = ("owner", "member", "stranger", "anonymous", "admin")
OPEN = {"health", "signin", "signout", "home"}
"""Answers anybody; tells nothing of anybody's."""
OWN = {"account", "password", "tokens", "files", "files-send", "file-arrived", "help", "hardware", "hardware-software", "jobs", "job-new", "job-new-input", "job-sample",
       "projects", "budget", "upload", "workstations", "workstation-new", "webhooks"}  # fmt: skip
"""Signed-in people; shows only what is theirs."""
JOB_SEEN = {"job", "job-output", "job-files", "job-health", "job-health-data", "job-timeline", "job-settings", "job-zip", "job-file",
            "job-file-view", "job-input", "log-bytes", "log-lines", "log-search", "log-download", "job-series"}  # fmt: skip
JOB_CHANGED = {"job-stop", "job-archive", "job-delete", "job-submit", "job-extend", "job-change", "job-offer"}
DESK_SEEN = {
    "workstation",
    "workstation-files",
    "workstation-health",
    "workstation-health-data",
    "workstation-timeline",
    "workstation-settings",
}
DESK_CHANGED = {"workstation-submit", "workstation-suspend", "workstation-resume", "workstation-stop", "workstation-keep", "workstation-stay",
                "workstation-delete", "workstation-share", "workstation-share-revoke"}  # fmt: skip
DESK_OWNED = {
    "workstation-open",
    "workstation-copy",
    "workstation-take",
    "workstation-job",
    "workstation-copy-file",
    "workstation-sent-back",
}
"""Of a workstation: seen by its project; changed by owner, lead, admin; its session and home are its owner's alone."""
JOB_COPIED = {"job-clone", "job-resubmit"}
ELSEWHERE = {
    "workstation-clone",
    "workstation-shared",
    "upload-part",
    "file",
    "file-delete",
    "token-revoke",
    "budget-one",
    "project",
    "member-remove",
    "stray",
    "webhook",
    "webhook-switch",
    "webhook-delete",
    "webhook-test",
    "webhook-again",
}
"""Somebody's things beside jobs: strangers get 404 (403 where only the right lacks)."""
ROLES_OF_MONEY_AND_HARDWARE = {
    *("audit", "audit-csv", "budget-adjust", "budget-close", "budget-csv", "budget-edit", "budget-new", "budget-spend", "budgets-all"),
    *("cluster-release", "coretype", "coretype-delete", "coretype-look", "coretype-new", "coretype-offer", "coretypes", "hardware-export"),
    *("hardware-slurm", "hardware-slurm-look", "hardware-slurm-give-up", "hardware-accounts", "hardware-account-remove"),
    *("limits", "limit", "limit-new", "limit-delete"),
    *("hardware-import", "region", "region-new", "budget-unpaid"),
}
"""Leads, admins and auditors differ here: test_roles.py has their matrix."""


def names() -> set[str]:
    found: set[str] = set()

    def walk(patterns, prefix: str = "") -> None:
        for pattern in patterns:
            here = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver) and not here.startswith(("admin/", "api/")):
                walk(pattern.url_patterns, here)
            elif isinstance(pattern, URLPattern) and pattern.name:
                found.add(pattern.name)

    walk(get_resolver().url_patterns)
    return found


@pytest.fixture
def people(owner, member, stranger, admin):
    clients = {role: Client() for role in ROLES}
    for role, user in [("owner", owner), ("member", member), ("stranger", stranger), ("admin", admin)]:
        clients[role].force_login(user)
    return clients


@pytest.fixture
def job(owner, wing):
    made = factories.job(owner, project=wing)
    made.workload.submit(owner)
    directory = logs.attempt_dir(made.workload.public_id, 1)
    logs.write(directory, "stdout", 0, 0, b"secret words\n")
    outputs.store_batch(
        made.workload.public_id, 1, [{"path": "a.txt", "size": 2, "sha256": SHA_OF_HI, "mode": 0o644, "mtime": 0}], memoryview(b"hi")
    )
    file = StoredFile.objects.create(owner=owner, name="deck.inp", size=2, sha256=SHA_OF_HI, key="inputs/none")
    made.inputs.create(file=file, name="deck.inp")
    return made.workload


SHA_OF_HI = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"


def test_every_address_is_classified():
    rest = (
        names()
        - OPEN
        - OWN
        - JOB_SEEN
        - JOB_CHANGED
        - JOB_COPIED
        - DESK_SEEN
        - DESK_CHANGED
        - DESK_OWNED
        - ELSEWHERE
        - ROLES_OF_MONEY_AND_HARDWARE
    )
    unknown = {name for name in rest if not name.startswith("admin-")}
    assert unknown == set(), "say in this file who may see these"


def addresses(job) -> dict[str, str]:
    from django.urls import NoReverseMatch, reverse

    use = job.job.inputs.get()
    found = {}
    for name in names() & (JOB_SEEN | JOB_CHANGED | JOB_COPIED):
        for args in ([job.public_id], [job.public_id, 0], [job.public_id, use.pk]):
            try:
                found[name] = reverse(name, args=args)
            except NoReverseMatch:
                continue
            if name != "job-input":
                break
    return found


def test_jobs_are_seen_by_their_project_and_by_nobody_else(people, job):
    for name, address in addresses(job).items():
        if name not in JOB_SEEN:
            continue
        for role, client in people.items():
            status = client.get(address + ("?q=x&line=0&count=1&from=0&to=5" if name.startswith("log-") else "")).status_code
            if role == "anonymous":
                assert status in (302, 401, 403, 404), (name, role, status)
            elif role == "stranger":
                assert status == 404, (name, role, status)
            else:
                assert status in (200, 206, 302, 404) if name in {"job-input", "job-file-view"} else status in (200, 206), (
                    name,
                    role,
                    status,
                )


def test_jobs_are_changed_by_owner_and_admin_only(people, job):
    for name, address in addresses(job).items():
        if name not in JOB_CHANGED:
            continue
        before = type(job).objects.values().get(pk=job.pk)
        assert people["anonymous"].post(address).status_code in (302, 401, 403), name
        assert people["stranger"].post(address).status_code == 404, name
        assert people["member"].post(address).status_code == 403, name
        assert type(job).objects.values().get(pk=job.pk) == before, f"{name} changed something for somebody who may not"
    stop = addresses(job)["job-stop"]
    assert people["owner"].post(stop).status_code in (200, 204, 302)
    job.refresh_from_db()
    assert job.wish == "stop"


def test_a_member_may_copy_but_a_stranger_may_not(people, job):
    address = addresses(job)["job-clone"]
    assert people["stranger"].post(address).status_code == 404
    assert people["anonymous"].post(address).status_code in (302, 401, 403)
    assert people["member"].post(address).status_code in (200, 302)


def test_own_pages_want_a_sign_in_and_show_nothing_of_others(people, job):
    from django.urls import reverse

    for name in sorted(OWN & names()):
        address = reverse(name)
        assert people["anonymous"].get(address).status_code in (302, 401, 403, 405), name
        answer = people["stranger"].get(address)
        assert answer.status_code in (200, 302, 400, 404, 405), (name, answer.status_code)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        assert job.public_id.encode() not in body, name
        assert b"deck.inp" not in body, name


def test_the_api_gives_strangers_nothing(job, owner, stranger, admin):
    made = {user.username: ApiToken.make(user, "t")[1] for user in (owner, stranger)}
    base, file = f"/api/v2/jobs/{job.public_id}/", f"/api/v2/files/{job.job.inputs.get().file.public_id}/"
    paths = [
        "",
        "statuses/",
        "cluster_statuses/",
        "files/",
        "runs/",
        "runs/1/",
        "runs/1/files/",
        "runs/1/tail/stdout",
        "instances/",
        "log/",
        "health/",
        "gates/",
    ]
    client = Client()
    for address in [
        *(base + path for path in paths),
        file,
        file + "contents/",
        file + "lines/",
        f"/api/v2/files/{job.public_id}-1-0/contents/",
    ]:
        assert client.get(address).status_code == 401, address
        assert client.get(address, HTTP_AUTHORIZATION="Token wrong").status_code == 401, address
        assert client.get(address, HTTP_AUTHORIZATION=f"Token {made[stranger.username]}").status_code in (400, 404), address
    for path in ("submit/", "stop/", "clone/", "runs/1/stop/", "runs/1/snapshot/"):
        answer = client.post(base + path, "{}", "application/json", HTTP_AUTHORIZATION=f"Token {made[stranger.username]}")
        assert answer.status_code == 404, path
    assert client.get(base, HTTP_AUTHORIZATION=f"Token {made[owner.username]}").status_code == 200


def test_a_read_token_reads_only(job, owner):
    _, text = ApiToken.make(owner, "t", "read")
    client, base = Client(), f"/api/v2/jobs/{job.public_id}/"
    assert client.get(base, HTTP_AUTHORIZATION=f"Token {text}").status_code == 200
    assert client.post(base + "stop/", "{}", "application/json", HTTP_AUTHORIZATION=f"Token {text}").status_code == 403


def test_an_expired_token_is_no_token(job, owner):
    _, text = ApiToken.make(owner, "t", expires=timezone.now())
    assert Client().get(f"/api/v2/jobs/{job.public_id}/", HTTP_AUTHORIZATION=f"Token {text}").status_code == 401


@pytest.fixture
def desk(owner, wing):
    made = factories.workstation(owner, project=wing, status="active")
    made.share(owner, timezone.now())
    key = {
        "code": "c0ffee00c0ffee00",
        "attempt": 1,
        "why": "stop",
        "key": "homes/none",
        "made": timezone.now(),
        "whole": timezone.now(),
        "size": 1,
    }
    HomeCopy.objects.create(workstation=made, **key)
    file = StoredFile.objects.create(owner=owner, name="deck.inp", size=2, sha256=SHA_OF_HI, key="inputs/none")
    made.sent.create(file=file, name="deck.inp", by=owner, made=timezone.now())
    return made.workload


def desk_address(name, desk) -> str:
    from django.urls import reverse

    args = {"workstation-copy-file": ["c0ffee00c0ffee00", 0], "workstation-share-revoke": [desk.workstation.shares.get().pk]}
    args["workstation-sent-back"] = [desk.workstation.sent.get().pk]
    args |= dict.fromkeys(("workstation-copy", "workstation-take", "workstation-job"), ["c0ffee00c0ffee00"])
    return reverse(name, args=[desk.public_id, *args.get(name, [])])


@pytest.mark.parametrize("name", sorted(DESK_SEEN))
def test_workstations_are_seen_by_their_project_and_by_nobody_else(people, desk, name):
    wanted = {"owner": 200, "member": 200, "admin": 200, "stranger": 404, "anonymous": 302}
    assert {role: client.get(desk_address(name, desk)).status_code for role, client in people.items()} == wanted


@pytest.mark.parametrize("name", sorted(DESK_CHANGED | DESK_OWNED))
def test_workstations_are_changed_by_owner_and_admin_and_their_homes_are_the_owners(people, desk, name):
    address, changed = desk_address(name, desk), name in DESK_CHANGED
    ask = "get" if name in {"workstation-open", "workstation-copy", "workstation-copy-file"} else "post"
    refused = {"anonymous": 302, "stranger": 404, "member": 403} | ({} if changed else {"admin": 403})
    before = type(desk).objects.values().get(pk=desk.pk)
    assert {role: getattr(people[role], ask)(address).status_code for role in refused} == refused
    assert type(desk).objects.values().get(pk=desk.pk) == before
    assert getattr(people["owner"], ask)(address).status_code in (200, 302, 404)


def test_only_its_owner_sends_files_into_a_workstation_and_only_their_own(people, desk, job, stranger, member):
    theirs = {
        user: StoredFile.objects.create(owner=user, name="mine", size=2, sha256=SHA_OF_HI, key="inputs/none") for user in (stranger, member)
    }
    for role, user, status in (("stranger", stranger, 404), ("member", member, 403), ("admin", member, 403)):
        assert people[role].post("/files/send/", {"to": desk.public_id, "file": theirs[user].public_id}).status_code == status
    assert people["anonymous"].post("/files/send/", {"to": desk.public_id}).status_code == 302
    people["owner"].post("/files/send/", {"to": desk.public_id, "file": theirs[member].public_id})
    assert desk.workstation.sent.count() == 1
    assert people["stranger"].get(f"/files/send/?job={job.public_id}").status_code == 404
    assert people["member"].get(f"/files/send/?job={job.public_id}").status_code == 200


SOCKETS = [
    "/live/workstations/{desk}/?page=status",
    "/live/workstations/{desk}/health/",
    "/live/jobs/{id}/?page=status",
    "/live/jobs/{id}/log/?attempt=1&stream=stdout",
    "/live/jobs/{id}/health/",
]


@pytest.mark.parametrize("path", SOCKETS)
@pytest.mark.parametrize("role", ROLES)
async def test_sockets_are_refused_before_accept(people, job, desk, path, role):
    accepted = await handshake(people[role], path.format(id=job.public_id, desk=desk.public_id))
    assert accepted is (role in {"owner", "member", "admin"})


@pytest.mark.parametrize("path", [*SOCKETS, "/live/jobs/?ids={id}", "/live/workstations/?ids={desk}"])
async def test_a_foreign_page_cannot_open_a_socket(people, job, desk, path):
    assert not await handshake(people["owner"], path.format(id=job.public_id, desk=desk.public_id), origin=b"http://evil.test")


async def handshake(client: Client, path: str, origin: bytes = b"http://testserver") -> bool:
    from portal.asgi import application

    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items()).encode()
    headers = [(b"host", b"testserver"), (b"origin", origin), (b"cookie", cookies)]
    communicator = WebsocketCommunicator(application, path, headers=headers)
    accepted, _ = await communicator.connect(timeout=10)
    await communicator.disconnect()
    await asyncio.sleep(0)
    return accepted
