"""Desktops and terminals through the whole application, for each kind of person."""

import io
import json
import struct

import factories
import pytest
from asgiref.sync import sync_to_async
from channels.testing import HttpCommunicator
from django.contrib.auth.models import Group
from django.utils import timezone
from PIL import Image

from jobs import logs, tokens
from jobs.models import Cluster, Membership, Share
from portal import relay
from portal.relay import agents, rfb, sockets
from tests.portal.live_client import Viewer, refused, session_of, until, viewing
from tests.portal.relay.node import HELLO, connected, echo, red_desktop, remembering_desktop

pytestmark = pytest.mark.django_db(transaction=True)
GREETING = HELLO + b"\x01\x01"
KEY = bytes([4, 1, 0, 0]) + struct.pack(">I", 0x61)
UPDATE = bytes([3, 1]) + bytes(8)


@pytest.fixture
def desk(owner, settings, tmp_path):
    settings.LOGS_DIR = tmp_path
    return factories.workstation(owner, status="active", project=factories.project(owner))


@pytest.fixture
def token(desk):
    work = desk.workload
    token = tokens.token_of(work)
    Cluster.objects.create(
        workload=work,
        attempt=work.attempt,
        token=token,
        secret_hash=tokens.hash_of("secret"),
        backend="fake",
        coretype=work.coretype,
        nodes_wanted=1,
        cores=1,
        price=1,
        asked=timezone.now(),
        up=timezone.now(),
    )
    return token


@pytest.fixture
def name(token):
    return relay.name_of(token)


@pytest.fixture
def node(name, token):
    return lambda **services: connected(name, token, "secret", services)


session = sync_to_async(session_of)
HUSH = bytes.fromhex("02 00 0002 00000000 c0a1e5ce") + rfb.NO_TEXT
"""What the relay says for a looker, before anything of his: no text of the clipboard, please."""


async def greeted(viewer):
    """Says hello to a desktop and takes its answer."""
    await viewer.send_to(bytes_data=GREETING)
    got = b""
    while len(got) < 12 + 2 + 4 + 24 + 4:
        got += await viewer.receive_from(timeout=10)


async def test_the_owner_types_and_the_desktop_hears_it(node, name, desk, owner):
    heard = []
    async with node(desktop=remembering_desktop(heard)), viewing(f"/relay/{name}/desktop", await session(owner)) as viewer:
        await greeted(viewer)
        await viewer.send_to(bytes_data=KEY)
        assert await viewer.receive_from(timeout=10) == b"\x02"
    assert heard == [KEY]
    directory = logs.attempt_dir(desk.workload.public_id, 1)
    await until(lambda: logs.last_touched(directory))


async def test_looking_alone_is_no_work(node, name, desk, owner):
    heard = []
    async with node(desktop=remembering_desktop(heard)), viewing(f"/relay/{name}/desktop", await session(owner)) as viewer:
        await greeted(viewer)
        await viewer.send_to(bytes_data=UPDATE)
        assert await viewer.receive_from(timeout=10) == b"\x02"
    assert logs.last_touched(logs.attempt_dir(desk.workload.public_id, 1)) is None


async def test_an_admin_and_a_lead_look_and_can_not_type(node, name, desk, admin, member):
    await sync_to_async(Membership.objects.create)(project=desk.workload.project, user=member, role="lead")
    for person in admin, member:
        heard = []
        async with node(desktop=remembering_desktop(heard)), viewing(f"/relay/{name}/desktop", await session(person)) as viewer:
            await greeted(viewer)
            await viewer.send_to(bytes_data=KEY + UPDATE)
            assert await viewer.receive_from(timeout=10) == b"\x02"
        assert heard == [HUSH, UPDATE]


async def test_strangers_members_auditors_and_nobody_are_refused(node, name, desk, stranger, member):
    await sync_to_async(Membership.objects.create)(project=desk.workload.project, user=member)
    auditor = await sync_to_async(factories.user)("auditor")
    group, _ = await sync_to_async(Group.objects.get_or_create)(name="auditors")
    await sync_to_async(auditor.groups.add)(group)
    async with node(desktop=echo, terminal=echo):
        for part in "desktop", "terminal":
            for person in stranger, member, auditor:
                assert await refused(f"/relay/{name}/{part}", await session(person)) == 4404
            assert await refused(f"/relay/{name}/{part}") == 4404


async def test_a_page_of_another_origin_can_not_use_the_sign_in(node, name, owner):
    async with node(desktop=echo):
        assert await refused(f"/relay/{name}/desktop", await session(owner), origin=b"http://evil.example") == 4403


async def test_without_an_agent_the_page_is_to_come_again(name, owner):
    assert await refused(f"/relay/{name}/desktop", await session(owner)) == 4503


async def test_when_the_agent_goes_its_viewers_come_again(node, name, owner):
    key = await session(owner)
    async with node(desktop=remembering_desktop([])):
        viewer = Viewer(f"/relay/{name}/desktop", key)
        assert (await viewer.connect(timeout=10))[0]
    assert await viewer.closed() == 4503


@pytest.mark.parametrize("wrong", [{"secret": "other"}, {"token": "hr0-workstation-aBcDeF-1"}, {"name": "hr0-workstation-aBcDeF"}])
async def test_only_the_clusters_own_agent_is_let_in(name, token, wrong):
    from tests.portal.relay.node import Agent

    given = {"name": name, "token": token, "secret": "secret", "services": {}, **wrong}
    accepted, code = await Agent(**given).connect(timeout=10)
    assert not accepted
    assert code == agents.REFUSED


async def test_after_a_release_the_agent_is_shown_out(node, name, token, monkeypatch):
    monkeypatch.setattr(agents, "CHECK", 0.05)
    async with node(desktop=echo) as agent:
        await sync_to_async(Cluster.objects.filter(token=token).update)(releasing=timezone.now())
        await until(lambda: agent.future.done())
    assert await refused(f"/relay/{name}/desktop") == 4404


async def test_signing_out_ends_a_desktop(node, name, owner, monkeypatch):
    monkeypatch.setattr(sockets, "CHECK", 0.05)
    from django.contrib.sessions.models import Session

    key = await session(owner)
    async with node(desktop=remembering_desktop([])):
        viewer = Viewer(f"/relay/{name}/desktop", key)
        assert (await viewer.connect(timeout=10))[0]
        await sync_to_async(Session.objects.filter(session_key=key).delete)()
        assert await viewer.closed() == 4404


async def test_a_shared_link_looks_until_it_is_revoked(node, name, desk, owner, monkeypatch):
    monkeypatch.setattr(sockets, "CHECK", 0.05)
    now = timezone.now()
    share = await sync_to_async(Share.objects.create)(
        workstation=desk,
        token_hash=tokens.hash_of("shared"),
        made_by=owner,
        made=now,
        expires=now + timezone.timedelta(hours=1),
        signed_in=False,
    )
    heard = []
    async with node(desktop=remembering_desktop(heard)):
        assert await refused(f"/relay/{name}/desktop?share=wrong") == 4404
        viewer = Viewer(f"/relay/{name}/desktop?share=shared")
        assert (await viewer.connect(timeout=10))[0]
        await greeted(viewer)
        await viewer.send_to(bytes_data=KEY + UPDATE)
        assert await viewer.receive_from(timeout=10) == b"\x02"
        share.revoked = timezone.now()
        await sync_to_async(share.save)()
        assert await viewer.closed() == 4404
    assert heard == [HUSH, UPDATE]


async def test_a_link_for_people_who_are_signed_in_is_for_them(node, name, desk, owner, stranger):
    now = timezone.now()
    await sync_to_async(Share.objects.create)(
        workstation=desk, token_hash=tokens.hash_of("shared"), made_by=owner, made=now, expires=now + timezone.timedelta(hours=1)
    )
    async with node(desktop=remembering_desktop([])):
        assert await refused(f"/relay/{name}/desktop?share=shared") == 4404
        async with viewing(f"/relay/{name}/desktop?share=shared", await session(stranger)) as viewer:
            await greeted(viewer)


async def test_a_terminal_carries_keys_and_sizes(node, name, owner):
    async with node(terminal=echo), viewing(f"/relay/{name}/terminal", await session(owner)) as viewer:
        await viewer.send_to(text_data=json.dumps({"resize": [120, 40]}))
        assert await viewer.receive_from(timeout=10) == b"\x01" + struct.pack(">IHH", 4, 120, 40)
        for nonsense in ("x", "[]", '{"resize": 1}', '{"resize": ["a", 2]}'):
            await viewer.send_to(text_data=nonsense)
        await viewer.send_to(bytes_data=b"ls\r")
        assert await viewer.receive_from(timeout=10) == b"\x00" + struct.pack(">I", 3) + b"ls\r"


async def test_who_looks_at_a_terminal_can_not_type(node, name, admin):
    got = []

    async def terminal(pipe):
        await pipe.write(b"$ ")
        got.append(await pipe.read())

    async with node(terminal=terminal), viewing(f"/relay/{name}/terminal", await session(admin)) as viewer:
        assert await viewer.receive_from(timeout=10) == b"$ "
        await viewer.send_to(bytes_data=b"rm -rf ~\r")
        await viewer.send_to(text_data=json.dumps({"resize": [20, 2]}))
        assert await viewer.receive_nothing(0.2)
    assert got in ([], [b""])


async def test_the_page_names_who_is_connected(node, name, desk, owner, admin):
    public_id = desk.workload.public_id
    async with node(desktop=remembering_desktop([])):
        async with viewing(f"/relay/{name}/desktop", await session(owner)), viewing(f"/relay/{name}/desktop", await session(admin)):
            await until(lambda: len(relay.viewers(public_id, 1)) == 2)
            assert relay.viewers(public_id, 1) == [{"viewer": str(admin), "mode": "look"}, {"viewer": str(owner), "mode": "act"}]
        await until(lambda: relay.viewers(public_id, 1) == [])


async def test_a_second_life_of_the_agent_takes_the_place_of_the_first(node, name, owner):
    heard = []
    key = await session(owner)
    async with node(desktop=echo), node(desktop=remembering_desktop(heard)), viewing(f"/relay/{name}/desktop", key) as viewer:
        await greeted(viewer)


async def asked(path, key=""):
    from portal.asgi import application

    headers = [(b"host", b"testserver")] + ([(b"cookie", f"sessionid={key}".encode())] if key else [])
    return await HttpCommunicator(application, "GET", path, headers=headers).get_response(timeout=10)


async def test_a_small_picture_of_the_desktop(node, name, owner, stranger, admin):
    assert (await asked(f"/relay/{name}/picture.png", await session(owner)))["status"] == 503
    async with node(desktop=red_desktop):
        answer = await asked(f"/relay/{name}/picture.png", await session(owner))
        assert answer["status"] == 200
        image = Image.open(io.BytesIO(answer["body"]))
        assert image.size == (8, 4)
        assert image.getpixel((3, 2)) == (255, 0, 0)
        for person in stranger, admin:  # an admin may look, but never unseen
            assert (await asked(f"/relay/{name}/picture.png", await session(person)))["status"] == 404
        assert (await asked(f"/relay/{name}/picture.png"))["status"] == 404


@pytest.mark.parametrize("path", ["/relay/", "/relay/x", "/relay/x/nothing", "/relay/x/desktop/more", "/relay/x/agent", "/relay/../x/app/"])
async def test_addresses_that_we_do_not_have(path):
    assert (await asked(path))["status"] == 404
