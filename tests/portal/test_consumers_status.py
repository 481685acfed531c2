"""Live pages: never stale, nobody sees what is not his, and many viewers cost one rendering."""

import asyncio
from contextlib import AsyncExitStack

import factories
import pytest
from asgiref.sync import sync_to_async

from jobs.models import Workload
from portal import fragments, live
from portal.consumers import socket
from tests.portal.live_client import refused, session_of, until, viewing

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def work(owner, wing):
    return factories.job(owner, project=wing).workload


@pytest.fixture
def rendered(monkeypatch):
    """Every rendering, as (public id, version, user, page); the pages' own rendering is tested with the pages."""
    made = []

    def render(work, user, page):
        made.append((work.public_id, work.version, user.pk, page))
        return f"<p id='job-{work.public_id}-{page}'>{work.version}</p>"

    def render_rows(ids, user):
        made.append((tuple(ids), user.pk))
        return "".join(f"<tr id='job-{one}-row'></tr>" for one in ids)

    monkeypatch.setattr(fragments, "render", render)
    monkeypatch.setattr(fragments, "render_rows", render_rows)
    return made


def touch(work):
    """A change of the domain, announced as the domain does it."""
    work.touch()
    work.refresh_from_db()
    live.hub.publish(work.topic, {"version": work.version})


# one job


async def test_everything_comes_at_once_and_again_with_every_version(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/?page=status", session) as viewer:
        assert await viewer.text() == f"<p id='job-{work.public_id}-status'>1</p>"
        await sync_to_async(touch)(work)
        assert await viewer.text() == f"<p id='job-{work.public_id}-status'>2</p>"


async def test_the_real_fragments_are_sent(work, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/?page=status", session) as viewer:
        assert f'id="job-{work.public_id}-stages"' in await viewer.text()


async def test_many_viewers_of_one_user_share_a_rendering(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with AsyncExitStack() as stack:
        path = f"/live/jobs/{work.public_id}/?page=status"
        viewers = [await stack.enter_async_context(viewing(path, session)) for _ in range(20)]
        for viewer in viewers:
            await viewer.text()
        rendered.clear()
        await sync_to_async(touch)(work)
        assert {await viewer.text() for viewer in viewers} == {f"<p id='job-{work.public_id}-status'>2</p>"}
        assert rendered == [(work.public_id, 2, owner.pk, "status")]


async def test_a_rendering_belongs_to_one_user(work, rendered, owner, member):
    sessions = [await sync_to_async(session_of)(user) for user in (owner, member)]
    for session in sessions:
        async with viewing(f"/live/jobs/{work.public_id}/?page=status", session) as viewer:
            await viewer.text()
    assert [user for _, _, user, _ in rendered] == [owner.pk, member.pk]


async def test_a_lost_piece_of_news_is_found_by_the_guard(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        await Workload.objects.filter(pk=work.pk).aupdate(version=9)
        await live.hub.compare()
        assert await viewer.text() == f"<p id='job-{work.public_id}-status'>9</p>"


async def test_a_rendering_older_than_the_news_is_made_anew(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        for version in range(2, 30):
            await Workload.objects.filter(pk=work.pk).aupdate(version=version)
            live.hub.publish(work.topic, {"version": version})
        async with asyncio.timeout(10):
            while "29" not in await viewer.text():
                pass


async def test_the_same_news_twice_are_one_push(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer, viewing(f"/live/jobs/?ids={work.public_id}", session) as rows:
        await viewer.text()
        await rows.text()
        await sync_to_async(touch)(work)
        await viewer.text()
        await rows.text()
        live.hub.publish(work.topic, {"version": work.version})
        assert await viewer.receive_nothing(0.1)
        assert await rows.receive_nothing(0.1)


async def test_a_lost_membership_closes_the_page(work, rendered, member, wing):
    session = await sync_to_async(session_of)(member)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        await wing.memberships.filter(user=member).adelete()
        await sync_to_async(touch)(work)
        assert await viewer.closed() == 4404


async def test_a_lost_membership_closes_the_page_of_a_job_that_stands_still(work, rendered, member, wing, monkeypatch):
    monkeypatch.setattr(socket, "CHECK", 0.05)
    session = await sync_to_async(session_of)(member)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        await wing.memberships.filter(user=member).adelete()
        assert await viewer.closed() == 4404


async def test_a_sign_out_closes_what_is_open(work, rendered, owner, monkeypatch):
    from django.contrib.sessions.models import Session

    monkeypatch.setattr(socket, "CHECK", 0.05)
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        await Session.objects.filter(session_key=session).adelete()
        assert await viewer.closed() == 4403


async def test_a_deleted_job_closes_its_page(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        await Workload.objects.filter(pk=work.pk).adelete()
        await live.hub.compare()
        assert await viewer.closed() == 4404


async def test_a_silent_page_is_kept_alive(work, rendered, owner, monkeypatch):
    monkeypatch.setattr("portal.consumers.status.HEARTBEAT", 0.05)
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        assert await viewer.text() == "<!-- -->"


async def test_nobody_is_left_listening(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/{work.public_id}/", session) as viewer:
        await viewer.text()
        assert live.hub.watched(work.topic)
    await until(lambda: not live.hub.watched(work.topic))


# rows


async def test_rows_that_move_come_alone(owner, rendered):
    works = [await sync_to_async(lambda: factories.job(owner).workload)() for _ in range(3)]
    session = await sync_to_async(session_of)(owner)
    ids = [work.public_id for work in works]
    async with viewing(f"/live/jobs/?ids={','.join(ids)}", session) as viewer:
        first = await viewer.text()
        assert all(f"job-{one}-row" in first for one in ids)
        await sync_to_async(touch)(works[1])
        assert await viewer.text() == f"<tr id='job-{ids[1]}-row'></tr>"


async def test_the_real_rows_are_sent(work, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing(f"/live/jobs/?ids={work.public_id}", session) as viewer:
        assert f'id="job-{work.public_id}-row"' in await viewer.text()


async def test_rows_of_others_are_left_out(work, rendered, stranger):
    session = await sync_to_async(session_of)(stranger)
    own = await sync_to_async(lambda: factories.job(stranger).workload)()
    async with viewing(f"/live/jobs/?ids={work.public_id},{own.public_id},nonsense,../x", session) as viewer:
        assert await viewer.text() == f"<tr id='job-{own.public_id}-row'></tr>"
        assert not live.hub.watched(work.topic)


async def test_an_empty_list_is_a_silent_socket(rendered, owner):
    session = await sync_to_async(session_of)(owner)
    async with viewing("/live/jobs/", session) as viewer:
        assert rendered == []
        assert await viewer.receive_nothing(0.05) is True


# who may come in: every socket


@pytest.mark.parametrize("path", ["/live/jobs/{}/", "/live/jobs/{}/log/", "/live/jobs/{}/health/"])
async def test_strangers_and_the_anonymous_are_refused_before_accept(work, stranger, path):
    path = path.format(work.public_id)
    session = await sync_to_async(session_of)(stranger)
    assert await refused(path, session) == 4404
    assert await refused(path) == 4404
    assert await refused(path, "nonsense") == 4404


@pytest.mark.parametrize("path", ["/live/jobs/{}/", "/live/jobs/{}/log/", "/live/jobs/{}/health/"])
async def test_owner_member_and_admin_may_look(work, rendered, owner, member, admin, path):
    for user in owner, member, admin:
        session = await sync_to_async(session_of)(user)
        async with viewing(path.format(work.public_id), session):
            pass


async def test_the_list_is_refused_to_the_anonymous():
    assert await refused("/live/jobs/") == 4404


@pytest.mark.parametrize("path", ["/live/jobs/nobody/", "/live/jobs/..%2f/", "/live/nothing/", "/", "/live/jobs/x/log/?attempt=x"])
async def test_what_is_not_there_is_refused(path, owner):
    assert await refused(path, await sync_to_async(session_of)(owner)) == 4404


async def test_a_foreign_origin_is_refused(work, rendered, owner):
    session = await sync_to_async(session_of)(owner)
    path = f"/live/jobs/{work.public_id}/"
    assert await refused(path, session, b"http://evil.example") == 4403
    async with viewing(path, session, b"http://testserver"):
        pass


@pytest.mark.parametrize("text", [None, "", "{", "[]", "1", "[" * 100_000])
def test_what_is_no_message_is_nothing(text):
    assert socket._parsed(text) is None
