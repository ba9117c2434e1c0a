"""A small Hugging Face Hub on loopback: the routes that `evaluate` and `transformers` call to get
files.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: The one commit of every repository.
COMMIT = "0123456789abcdef0123456789abcdef01234567"

_FILE = re.compile(
    r"/(?P<space>spaces/)?(?P<repo>[^/]+(/[^/]+)?)/resolve/(?P<revision>[^/]+)/(?P<path>.+)"
)
_TREE = re.compile(r"/api/models/(?P<repo>[^/]+(/[^/]+)?)/tree/(?P<revision>[^/]+)(?P<path>/.+)?")
_INFO = re.compile(r"/api/models/(?P<repo>[^/]+(/[^/]+)??)(/revision/(?P<revision>[^/]+))?")


@dataclass
class LocalHub:
    """What is served, folders by ``user/name`` or ``name``; method, path and status of each request, in order;
    the endpoint.
    """

    models: dict[str, Path]
    spaces: dict[str, Path]
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    url: str = ""

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body for a path."""
        if file_path := _FILE.fullmatch(path):
            folder = (self.spaces if file_path["space"] else self.models).get(file_path["repo"])
            if folder is None:
                return 404, {"X-Error-Code": "RepoNotFound"}, b""
            if file_path["revision"] not in ("main", COMMIT):
                return 404, {"X-Error-Code": "RevisionNotFound"}, b""
            file = folder / file_path["path"]
            if not file.is_file():
                return 404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b""
            body = file.read_bytes()
            return (
                200,
                {"ETag": f'"{hashlib.sha256(body).hexdigest()}"', "X-Repo-Commit": COMMIT},
                body,
            )
        tree = _TREE.fullmatch(path)
        listing = tree or _INFO.fullmatch(path)
        if not listing:
            return 404, {}, b""
        folder = self.models.get(listing["repo"])
        if folder is None or (tree and tree["path"]):
            return 404, {"X-Error-Code": "EntryNotFound" if folder else "RepoNotFound"}, b"{}"
        sizes = {file.name: file.stat().st_size for file in folder.iterdir()}
        if tree:
            files = [
                {"type": "file", "path": name, "size": size, "oid": COMMIT}
                for name, size in sizes.items()
            ]
            return 200, {}, json.dumps(files).encode()
        siblings = [{"rfilename": name} for name in sizes]
        return (
            200,
            {},
            json.dumps(
                {"id": listing["repo"], "sha": COMMIT, "tags": [], "siblings": siblings}
            ).encode(),
        )


@contextmanager
def serve(hub: LocalHub) -> Iterator[LocalHub]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = unquote(urlsplit(self.path).path)
            status, headers, body = hub.answer(path)
            hub.requests.append((self.command, path, status))
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Keeps the output of the tests clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
