"""Names by a language model: asked at a local address that answers as told, and never needed."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shoal.clustering import Cluster
from shoal.errors import ParameterError
from shoal.naming.llm import KEY_VARIABLE, Endpoint, name_by_llm

CLUSTERS = [
    Cluster(0, "card, lost", 3, 0.9, ("card", "lost"), ("I lost my card", "card is gone")),
    Cluster(1, "refund", 2, 0.8, ("refund",), ("where is my refund",)),
    Cluster(2, "(empty)", 0, 0.0),
]


class Model:
    """A server that answers what ``reply`` returns for a question."""

    def __init__(self, reply):
        self.asked: list[dict] = []
        self.headers: list[dict] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append({"path": self.path, **body})
                outer.headers.append(dict(self.headers))
                status, answer = reply(body)
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "http://127.0.0.1:1/elsewhere")
                self.end_headers()
                self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(5)


def said(content: str) -> tuple[int, dict]:
    return 200, {"choices": [{"message": {"content": content}}]}


def named(body) -> tuple[int, dict]:
    texts = json.loads(body["messages"][1]["content"])["typical texts"]
    name = "Lost cards" if "card" in texts[0] else "Refunds"
    return said(f'Sure! ```json\n{{"name": "{name}", "summary": "About {name.lower()}."}}\n```')


def test_names_and_summaries_are_taken_and_cached():
    with Model(named) as model:
        found = name_by_llm(CLUSTERS, Endpoint(model.url, "tiny"))
        again = name_by_llm(CLUSTERS, Endpoint(model.url, "tiny"))
    assert [cluster.name for cluster in found.clusters] == ["Lost cards", "Refunds", "(empty)"]
    assert found.clusters[0].summary == "About lost cards."
    assert (found.n_named, found.problem) == (2, "")
    assert again == found
    assert len(model.asked) == 2, "the second time the cache answered, and the empty cluster is never asked about"
    assert model.asked[0]["path"] == "/v1/chat/completions"
    assert model.asked[0]["model"] == "tiny"


def test_the_key_comes_from_the_environment_and_goes_nowhere_else(monkeypatch):
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    with Model(named) as model:
        name_by_llm(CLUSTERS, Endpoint(model.url, "tiny"))
    assert model.headers[0]["Authorization"] == "Bearer secret"
    with Model(lambda _: (302, {})) as model:
        found = name_by_llm(CLUSTERS, Endpoint(model.url, "tiny"))
    assert "answered 302" in found.problem
    assert [cluster.name for cluster in found.clusters] == [cluster.name for cluster in CLUSTERS]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (lambda _: said("no JSON here"), "cannot be read"),
        (lambda _: said('{"name": ""}'), "no name in it"),
        (lambda _: said("[1, 2]"), "cannot be read"),
        (lambda _: (200, {"strange": 1}), "cannot be read"),
        (lambda _: (200, b"\xff\xfe"), "cannot be read"),
        (lambda _: (500, {}), "answered 500"),
        (lambda _: (401, {}), "answered 401"),
    ],
)
def test_what_goes_wrong_leaves_the_built_in_names(reply, problem):
    with Model(reply) as model:
        found = name_by_llm(CLUSTERS, Endpoint(model.url, "tiny"))
    assert found.clusters == tuple(CLUSTERS)
    assert found.n_named == 0
    assert problem in found.problem


def test_nobody_answers_and_is_asked_once():
    found = name_by_llm(CLUSTERS, Endpoint("http://127.0.0.1:9/v1", "tiny", timeout=2))
    assert found.clusters == tuple(CLUSTERS)
    assert "cannot be reached" in found.problem


def test_two_clusters_never_get_the_same_name():
    with Model(lambda _: said('{"name": "Questions", "summary": "All."}')) as model:
        found = name_by_llm(CLUSTERS, Endpoint(model.url, "tiny"))
    assert [cluster.name for cluster in found.clusters] == ["Questions", "Questions, refund", "(empty)"]


@pytest.mark.parametrize("url", ["localhost:11434", "file:///etc/passwd", "http://", "http://me:key@localhost/v1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ParameterError, match="is not an address"):
        Endpoint(url, "tiny")
