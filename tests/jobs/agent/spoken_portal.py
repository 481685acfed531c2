"""A portal for the agent's tests: it speaks the protocol over real HTTP, keeps what it hears, and misbehaves on demand."""

import contextlib
import hashlib
import json
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

SECRET = "s3cret"


class Portal:
    """What one cluster's agents talk to."""

    def __init__(self):
        self.spec = {
            "commands": ["true"], "pipefail": True, "environment": {}, "inputs": [], "streams": {"stdout": None},
            "stop_command": None, "grace": 5, "log_head": 1 << 30, "log_tail": 64 << 20,
            "cores": 1, "memory": 1 << 30, "nodes": 1,
        }
        self.orders = {
            "version": 1, "wish": "run", "paid_until": None, "walltime_until": None, "grace": 5, "watched": False,
            "tails": [], "release": False,
        }
        self.inputs = {}
        self.heard = []  # (report, body)
        self.logs = {}  # (stream, generation) -> bytearray
        self.log_calls = 0
        self.known = 0  # version of the orders that the agent asked with last
        self.gaps = []
        self.files = {}
        self.batches = 0
        self.manifest = {}
        self.nonce = None
        self.ready = True  # all nodes are up
        self.gone = False  # answer 410
        self.down = False  # answer 503
        self.cut = 0  # of so many answers every other is cut in half
        self.cut_input_after = None  # bytes of an input's answer before the connection breaks
        self.refuse = {}  # report -> (code, body)
        self.open = True
        self.lock = threading.RLock()
        self.news = threading.Condition(self.lock)
        self.server = None
        self.start()

    def start(self, port=0):
        portal = self

        class Handler(self._handler()):
            pass

        Handler.portal = portal
        self.server = _Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.open = True
        threading.Thread(target=self.server.serve_forever, args=(0.005,), daemon=True).start()

    def _handler(self):
        return _Handler

    def stop(self):
        """As after kill -9: nobody listens, open connections break."""
        with self.news:
            self.open = False
            self.news.notify_all()
        self.server.shutdown()
        self.server.server_close()
        self.server.break_all()

    def order(self, **changes):
        with self.news:
            self.orders.update(changes, version=self.orders["version"] + 1)
            self.news.notify_all()

    def release(self):
        with self.news:
            self.gone = True
            self.news.notify_all()

    def now_orders(self):
        return dict(self.orders, now=time.time())

    def log(self, stream="stdout", generation=0):
        with self.lock:
            return bytes(self.logs.get((stream, generation), b""))

    def bodies(self, report):
        with self.lock:
            return [body for name, body in self.heard if name == report]

    def last(self, report):
        found = self.bodies(report)
        return found[-1] if found else None


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *arguments):
        self.connections = set()
        super().__init__(*arguments)

    def get_request(self):
        connection, address = super().get_request()
        self.connections.add(connection)
        return connection, address

    def handle_error(self, request, client_address):
        """Broken connections are part of the game."""

    def break_all(self):
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(2)


def _plain(name):
    def report(self, query, data, node):
        with self.portal.lock:
            self.portal.heard.append((name, json.loads(data)))

    return report


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    portal: Portal

    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.handle_report()

    def do_POST(self):
        self.handle_report()

    def handle_report(self):
        url = urlsplit(self.path)
        _, _, token, node, report = url.path.split("/", 4)
        query = dict(parse_qsl(url.query, keep_blank_values=True, errors="surrogateescape"))
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        portal = self.portal
        if not portal.open:
            self.close_connection = True
            return
        if self.headers["Authorization"] != f"Bearer {SECRET}" or self.headers["Headrace-Protocol"] != "1":
            self.answer(401, {})
        elif portal.gone:
            self.answer(410, {})
        elif portal.down:
            self.answer(503, {})
        elif report in portal.refuse:
            self.answer(*portal.refuse[report])
        elif report.startswith("input/"):
            self.send_input(portal.inputs[report[6:]])
        else:
            code, body = self.reports[report.replace("/", "_")](self, query, data, int(node)) or (200, {})
            portal.cut -= portal.cut > 0
            self.answer(code, body, cut=portal.cut % 2 == 1)

    def answer(self, code, body, cut=False):
        data = json.dumps(dict({"orders": self.portal.now_orders()}, **body)).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2] if cut else data)
        self.close_connection = cut or self.close_connection

    def send_input(self, data):
        start = int((self.headers.get("Range") or "bytes=0-")[6:-1])
        self.portal.heard.append(("input", start))
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        after, self.portal.cut_input_after = self.portal.cut_input_after, None
        if after is not None:
            data = data[: start + after]
            self.close_connection = True
        self.wfile.write(data[start:])

    def hello(self, query, data, node):
        body = json.loads(data)
        with self.portal.lock:
            self.portal.heard.append(("hello", dict(body, node=node)))
            return 200, {"now": time.time(), "spec": self.portal.spec if node == 0 else None}

    def go(self, query, data, node):
        nonce = json.loads(data)["nonce"]
        with self.portal.lock:
            self.portal.heard.append(("go", nonce))
            if not self.portal.ready:
                return 200, {"go": False, "wait": "1 of 2 nodes up"}
            self.portal.nonce = self.portal.nonce or nonce
            if nonce != self.portal.nonce:
                return 410, {}
            return 200, {"go": True, "hosts": ["one", "two"]}

    def log(self, query, data, node):
        offset = int(query["offset"])
        with self.portal.news:
            self.portal.log_calls += 1
            kept = self.portal.logs.setdefault((query["stream"], int(query["generation"])), bytearray())
            if offset > len(kept):
                return 409, {"size": len(kept)}
            assert kept[offset : offset + len(data)] == data[: len(kept) - offset], "other bytes at the same place"
            kept += data[len(kept) - offset :]
            self.portal.news.notify_all()
            return 200, {"size": len(kept)}

    def gap(self, query, data, node):
        body = json.loads(data)
        with self.portal.lock:
            kept = self.portal.logs.setdefault((body["stream"], body["generation"]), bytearray())
            if body["from"] > len(kept):
                return 409, {"size": len(kept)}
            if body["to"] > len(kept):
                self.portal.gaps.append(body)
                kept += bytes(body["to"] - len(kept))
        return None

    def orders(self, query, data, node):
        with self.portal.news:
            have = self.portal.known = int(query["have"])
            self.portal.news.wait_for(
                lambda: self.portal.orders["version"] > have or self.portal.gone or not self.portal.open, 25
            )
            if self.portal.gone:
                return 410, {}
        return None

    def outputs_batch(self, query, data, node):
        (length,) = struct.unpack(">I", data[:4])
        at = 4 + length
        lines = json.loads(data[4:at])
        with self.portal.lock:
            self.portal.batches += 1
            for line in lines:
                content = data[at : at + line["size"]]
                at += line["size"]
                assert hashlib.sha256(content).hexdigest() == line["sha256"]
                self.portal.files[line["path"]] = content
        assert at == len(data)
        assert len(data) <= 8 << 20
        return 200, {"stored": len(lines), "failed": []}

    def outputs_file(self, query, data, node):
        with self.portal.lock:
            kept = self.portal.files.setdefault(query["path"], b"")
            offset = int(query["offset"])
            if offset > len(kept):
                return 409, {"size": len(kept)}
            kept = self.portal.files[query["path"]] = kept[:offset] + data
            if "sha256" in query:
                assert hashlib.sha256(kept).hexdigest() == query["sha256"]
                assert len(kept) == int(query["size"])
            return 200, {"size": len(kept)}

    def outputs_manifest(self, query, data, node):
        with self.portal.lock:
            self.portal.manifest[int(query["part"])] = data
            self.portal.heard.append(("manifest", query))

    reports = {
        "hello": hello, "go": go, "log": log, "gap": gap, "orders": orders, "outputs_batch": outputs_batch,
        "outputs_file": outputs_file, "outputs_manifest": outputs_manifest,
        **dict(map(lambda name: (name, _plain(name)), ("staging", "staged", "started", "beat", "exit", "done", "failed"))),
    }
