"""The least of a portal that lets real agents run one command on one cluster: it listens and keeps what it hears."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from backend_clouds import eventually


class Portal:
    """`heard` are the reports as (node, report, body); `log` is the command's output. Release makes it answer 410."""

    def __init__(self, command, nodes=1):
        self.nodes, self.heard, self.log = nodes, [], bytearray()
        self._spec = {"commands": [command], "pipefail": True, "environment": {}, "inputs": [], "streams": {"stdout": None}}
        self._spec |= {"stop_command": None, "grace": 20, "log_head": 1 << 30, "log_tail": 1 << 20}
        self._spec |= {"cores": 1, "memory": 256 << 20, "nodes": nodes}
        self._orders = {"version": 1, "wish": "run", "paid_until": None, "walltime_until": None, "grace": 20}
        self._orders |= {"watched": True, "tails": [], "release": False}
        self._news, self._released = threading.Condition(), False
        handler = type("Handler", (_Handler,), {"portal": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.release()
        self._server.shutdown()
        self._server.server_close()

    def order(self, wish):
        with self._news:
            self._orders |= {"wish": wish, "version": self._orders["version"] + 1}
            self._news.notify_all()

    def release(self):
        with self._news:
            self._released = True
            self._news.notify_all()

    def said(self, report):
        """The bodies of these reports so far."""
        with self._news:
            return [body for _, name, body in self.heard if name == report]

    def nodes_up(self):
        with self._news:
            return {node for node, name, _ in self.heard if name == "hello"}

    def answer(self, node, report, query, body):
        """Status and JSON for a report."""
        with self._news:
            if self._released:
                return 410, {}
            answer = {"orders": {**self._orders, "now": time.time()}}
            if report.startswith("log"):
                return 200, self._write(query, body)
            if report == "outputs/batch":
                return 200, {"stored": 1, "failed": []}
            self.heard.append((node, report, json.loads(body) if body and body[:1] == b"{" else {}))
            if report == "orders":
                self._news.wait_for(lambda: self._released or self._orders["version"] > int(query["have"]), 5)
                return 200, {"orders": {**self._orders, "now": time.time()}}
            if report == "hello":
                return 200, {**answer, "now": time.time(), "spec": self._spec if node == 0 else None}
            if report == "go":
                up = len({n for n, name, _ in self.heard if name == "hello"}) == self.nodes
                return 200, {**answer, "go": up, "hosts": ["here"] * self.nodes, "wait": "nodes"}
            return 200, answer

    def _write(self, query, body):
        offset = int(query["offset"])
        if query["stream"] == "stdout":
            self.log[offset : offset + len(body)] = body
        return {"size": offset + len(body), "orders": {**self._orders, "now": time.time()}}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        address = urlsplit(self.path)
        _, _, _, node, report = address.path.split("/", 4)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, answer = self.portal.answer(int(node), report, query, body)
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST

    def log_message(self, *arguments):
        pass


def ended(portal):
    return eventually(lambda: portal.said("exit"), 60)[0]


def says(portal, text):
    return eventually(lambda: text in bytes(portal.log), 60)
