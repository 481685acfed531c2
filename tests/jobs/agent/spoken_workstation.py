"""A portal for workstations' agents: keeps copies of homes, and is the other end of the relay (judged by `websockets`)."""

import base64
import contextlib
import hashlib
import io
import json
import struct
import tarfile
import threading

from websockets.frames import Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from tests.jobs.agent.spoken_portal import SECRET, Portal, _Handler, _plain

OPEN, OPENED, DATA, CREDIT, CLOSE = 1, 2, 3, 4, 5
FIRST = 256 << 10


class Workstations(Portal):
    """`relays`: the agent's websockets, the last one last."""

    def __init__(self):
        self.rooms = []  # bodies of home/room
        self.no_room = ""  # the answer to home/room, if not empty
        self.parts = {}  # copy -> bytearray
        self.wholes = []  # bodies of home/whole
        self.waiting = {}  # id -> order of a file that is to come into the home
        self.relays = []
        self.relay_refusal = 0  # an HTTP code instead of the websocket
        super().__init__()
        self.spec.update(commands=[], session={"kind": "terminal", "base": "/relay/x/app/", "home": None, "every": 0, "limit": 0, "start": ""})

    def _handler(self):
        return WorkstationHandler

    def session(self, **values):
        self.spec["session"].update(values)

    @property
    def relay(self):
        """The living relay, or None."""
        with self.lock:
            living = [relay for relay in self.relays if relay.living]
        return living[-1] if living else None

    def stop(self):
        super().stop()
        for relay in self.relays:
            relay.cut()

    def bring(self, *files):
        """Sends (id, name, data) into the home until the agent says of each that it came, or did not."""
        for number, name, data in files:
            self.inputs[f"sent-{number}"] = data
            self.waiting[number] = {"id": number, "name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest(), "mode": 0o640}
        self.order(bring=list(self.waiting.values()))

    def home(self):
        """The bytes of the last whole copy."""
        return bytes(self.parts[self.wholes[-1]["copy"]])

    def give_home(self, data, sha256=None):
        self.inputs["home-c0ffee"] = data
        self.session(home={"copy": "c0ffee", "size": len(data), "sha256": sha256 or hashlib.sha256(data).hexdigest()})


class Stream:
    """A stream as the portal sees it. `grants` False: nothing is granted for what is read."""

    def __init__(self, relay, number):
        self.relay, self.number = relay, number
        self.news = threading.Condition()
        self.data = bytearray()
        self.got = 0
        self.may_send = FIRST
        self.opened, self.closed, self.reason = False, False, ""
        self.grants = True

    def write(self, data, timeout=20):
        """All of it, as credit comes."""
        while data:
            with self.news:
                assert self.news.wait_for(lambda: self.may_send or self.closed, timeout), "no credit"
                if self.closed:
                    raise ConnectionError(self.reason)
                piece, data = data[: min(self.may_send, 65536)], data[min(self.may_send, 65536) :]
                self.may_send -= len(piece)
            self.relay.send(DATA, self.number, piece)

    def read(self, size, timeout=20):
        with self.news:
            assert self.news.wait_for(lambda: len(self.data) >= size or self.closed, timeout), bytes(self.data[-500:])
            found = bytes(self.data[:size])
            del self.data[:size]
        return found

    def until(self, word, timeout=20):
        """Everything up to the word."""
        with self.news:
            assert self.news.wait_for(lambda: word in self.data or self.closed, timeout), bytes(self.data[-500:])
            assert word in self.data, (self.reason, bytes(self.data[-500:]))
            end = self.data.index(word) + len(word)
        return self.read(end)

    def wait_closed(self, timeout=20):
        with self.news:
            assert self.news.wait_for(lambda: self.closed, timeout)
        return self.reason

    def close(self):
        self.relay.send(CLOSE, self.number, b"")

    def heard(self, kind, payload):
        with self.news:
            if kind == OPENED:
                self.opened = True
            elif kind == DATA:
                assert len(payload) <= 65536
                self.data += payload
                self.got += len(payload)
            elif kind == CREDIT:
                self.may_send += struct.unpack(">I", payload)[0]
            elif kind == CLOSE:
                self.closed, self.reason = True, payload.decode()
            self.news.notify_all()
        if kind == DATA and self.grants:
            self.relay.send(CREDIT, self.number, struct.pack(">I", len(payload)))


class Relay:
    """One websocket of an agent."""

    def __init__(self, connection, headers):
        self.connection, self.headers = connection, headers
        self.protocol = ServerProtocol(state=State.OPEN, max_size=1 << 20)
        self.lock = threading.RLock()
        self.streams = {}
        self.living = True
        self.pings = 0

    def open(self, service):
        with self.lock:
            number = len(self.streams) + 1
            stream = self.streams[number] = Stream(self, number)
        self.send(OPEN, number, service.encode())
        with stream.news:
            assert stream.news.wait_for(lambda: stream.opened or stream.closed, 20), "no answer to OPEN"
        return stream

    def send(self, kind, number, payload=b""):
        with self.lock:
            self.protocol.send_binary(struct.pack(">BI", kind, number) + payload)
            self._flush()

    def _flush(self):
        for data in self.protocol.data_to_send():
            if data:
                try:
                    self.connection.sendall(data)
                except OSError:
                    self.living = False

    def serve(self):
        """Reads until the end."""
        try:
            while True:
                data = self.connection.recv(1 << 16)
                if not data:
                    break
                with self.lock:
                    self.protocol.receive_data(data)
                    self._flush()
                    frames = self.protocol.events_received()
                assert self.protocol.parser_exc is None, self.protocol.parser_exc
                for frame in frames:
                    self._frame(frame)
        except OSError:
            pass
        finally:
            self.cut()

    def _frame(self, frame):
        if frame.opcode == Opcode.CLOSE:
            raise OSError("closed")
        if frame.opcode == Opcode.BINARY:
            kind, number = struct.unpack(">BI", frame.data[:5])
            self.streams[number].heard(kind, bytes(frame.data[5:]))
        else:
            self.pings += 1

    def cut(self):
        self.living = False
        with contextlib.suppress(OSError):
            self.connection.shutdown(2)
        for stream in self.streams.values():
            with stream.news:
                stream.closed, stream.reason = True, stream.reason or "cut"
                stream.news.notify_all()


class WorkstationHandler(_Handler):
    def do_GET(self):
        if "/relay/" in self.path:
            self.handle_relay()
        else:
            self.handle_report()

    def handle_relay(self):
        portal = self.portal
        self.close_connection = True
        if not portal.open:
            return
        if self.headers["Authorization"] != f"Bearer {SECRET}" or portal.gone or portal.relay_refusal:
            self.answer(portal.relay_refusal or (410 if portal.gone else 401), {})
            return
        key = self.headers["Sec-WebSocket-Key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key).digest()).decode())):
            self.send_header(name, value)
        self.end_headers()
        relay = Relay(self.connection, dict(self.headers, path=self.path))
        with portal.news:
            portal.relays.append(relay)
            portal.news.notify_all()
        relay.serve()

    def home_room(self, query, data, node):
        body = json.loads(data)
        with self.portal.lock:
            self.portal.rooms.append(body)
            self.portal.heard.append(("home/room", body))
            if self.portal.no_room:
                return 200, {"ok": False, "message": self.portal.no_room}
            unfinished = set(self.portal.parts) - {whole["copy"] for whole in self.portal.wholes} - {body["copy"]}
            for copy in unfinished:
                del self.portal.parts[copy]
            self.portal.parts.setdefault(body["copy"], bytearray())
        return 200, {"ok": True}

    def home_part(self, query, data, node):
        with self.portal.lock:
            kept = self.portal.parts.get(query["copy"])
            if kept is None:
                return 404, {"message": "no room was reserved for this copy"}
            offset = int(query["offset"])
            if offset > len(kept) or offset + len(data) < len(kept):
                return 409, {"size": len(kept)}
            kept += data[len(kept) - offset :]
            self.portal.heard.append(("home/part", len(kept)))
            return 200, {"size": len(kept)}

    def home_whole(self, query, data, node):
        body = json.loads(data)
        with self.portal.lock:
            kept = self.portal.parts[body["copy"]]
            if hashlib.sha256(kept).hexdigest() != body["sha256"] or len(kept) != body["size"]:
                return 409, {"size": 0}
            self.portal.wholes.append(body)
            self.portal.heard.append(("home/whole", body))
        return 200, {"ok": True}

    def brought(self, query, data, node):
        body = json.loads(data)
        with self.portal.lock:
            self.portal.heard.append(("brought", body))
            self.portal.waiting.pop(body["id"], None)
            self.portal.orders["bring"] = list(self.portal.waiting.values())

    reports = {
        **_Handler.reports, "brought": brought, "home_room": home_room, "home_part": home_part, "home_whole": home_whole,
        "ready": _plain("ready"), "unsaved": _plain("unsaved"),
    }  # fmt: skip


def enter(stream, line):
    """Types a line into a terminal."""
    data = line.encode() + b"\n"
    stream.write(struct.pack(">BI", 0, len(data)) + data)


def files(data):
    """What an archive holds, by name; None for what is no file."""
    with tarfile.open(fileobj=io.BytesIO(data), encoding="utf-8", errors="surrogateescape") as tar:
        return {member.name: tar.extractfile(member).read() if member.isreg() else None for member in tar}
