"""Fetching, from a server on this machine that has made-up files in the form of each source."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import tarfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import pytest
import typer
from typer.testing import CliRunner

from shoal.errors import DataError
from shoal_bench import fetch as fetching
from shoal_bench.cli import fetch as fetch_command
from shoal_bench.data_sets import DATA_SETS
from shoal_bench.fetch import as_tsv, fetch
from shoal_bench.sources import READERS, sentences


class Site:
    """What the server has: for each path its answers (status, content, announced length), the last for ever."""

    def __init__(self):
        self.answers: dict[str, list[tuple[int, bytes, int]]] = {}
        self.asked: list[str] = []

    def put(self, path: str, content: bytes, *before: int, announced: int | None = None):
        failures = [(status, b"", 0) for status in before]
        self.answers[path] = [*failures, (200, content, len(content) if announced is None else announced)]

    def answer(self, path: str) -> tuple[int, bytes, int]:
        self.asked.append(path)
        answers = self.answers.get(path, [(404, b"", 0)])
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def site(monkeypatch):
    """A server, the sources moved there, and no time lost between attempts."""
    content = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body, announced = content.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(announced))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(fetching, "_PAUSES_SECONDS", (0.0, 0.0, 0.0))
    for name, data_set in DATA_SETS.items():
        urls = tuple(f"http://127.0.0.1:{server.server_port}{urlsplit(url).path}" for url in data_set.urls)
        monkeypatch.setitem(DATA_SETS, name, replace(data_set, urls=urls))
    yield content
    server.shutdown()
    server.server_close()
    thread.join()


def paths(name: str) -> list[str]:
    return [urlsplit(url).path for url in DATA_SETS[name].urls]


def declare(monkeypatch, name: str, rows: list[tuple[str, str]]) -> bytes:
    """Say that the data set has these rows; return the content of its file."""
    content = ("label\ttext\n" + "".join(f"{label}\t{text}\n" for label, text in rows)).encode()
    monkeypatch.setitem(DATA_SETS, name, replace(DATA_SETS[name], sha256=hashlib.sha256(content).hexdigest()))
    return content


def archive(articles: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in articles.items():
            entry = tarfile.TarInfo(f"bbc-article-classify-bert-8265dc8/{name}")
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def table(rows: list[list[str]], **options) -> bytes:
    stream = io.StringIO()
    csv.writer(stream, **options).writerows(rows)
    return stream.getvalue().encode()


LINES = "".join(
    json.dumps({"text": text, "cluster": event}) + "\n" for text, event in [("two cod", 37), ("", 4), ("a", 4)]
)
SAYS = r"he said \"fish\"\n\nnever"

# name: (files as published, the rows they mean)
FORMS = {
    "stackoverflow": (
        ["\ufeffHow to fish?\nWhat é a\tcod \r\n\n".encode(), b"18\n3\n1\n"],
        [("linq", "How to fish?"), ("svn", "What é a cod")],
    ),
    "biomedical": (
        [b"old fish\nfish kittens\nhot fish\n", b"1\n2\n20"],
        [("aging", "old fish"), ("cats", "fish kittens"), ("temperature", "hot fish")],
    ),
    "searchsnippets": ([b"fish shop \nrod reel\n", b"1\n8\n"], [("business", "fish shop"), ("sports", "rod reel")]),
    "agnews": ([b"3\tfish prices rise\n1\tfish\twar\n"], [("Business", "fish prices rise"), ("World", "fish war")]),
    "tweet": ([LINES.encode()], [("37", "two cod"), ("4", "a")]),
    "trec6": (
        [b"DESC:manner How did fish develop ?\nLOC:city Which sister\xf0city has fish ?\n"],
        [("DESC", "How did fish develop ?"), ("LOC", "Which sister city has fish ?")],
    ),
    "dbpedia": (
        [
            table([["8", 'A "cod" is a fish.'], ["2", "Fish\tLtd"]], quoting=csv.QUOTE_ALL),
            table([["8", "Hake"]]),
            b"2: Company\n8: Animal\n#train: 5 #cat: 2\n",
        ],
        [("Animal", 'A "cod" is a fish.'), ("Company", "Fish Ltd"), ("Animal", "Hake")],
    ),
    "yelp": (
        [
            json.dumps(
                [
                    {"label": "very negative", "sentence": f"Text: {SAYS}\n"},
                    {"label": "very positive", "sentence": r"Text: caf\u00e9"},
                ]
            ).encode(),
            table([["label", "text", "id"], ["3", "good  fish", "7"], ["0", SAYS, "8"]]),
        ],
        [("1 star", 'he said "fish" never'), ("5 stars", r"caf\u00e9"), ("4 stars", "good fish")],
    ),
    "bbc_sentences": (
        [
            archive(
                {
                    "README.md": b"About fish.",
                    "bbc/tech/001.txt": "Robots swim\n\nA robot swam £5m. It was wet\n".encode("cp1252"),
                    "bbc/business/002.txt": b"Fish up\n\n" + b"".join(b"Day %d was calm. " % day for day in range(12)),
                    "bbc/business/001.txt": b'Fish down.\n\nMr. A. Cod fell 2.5%.\n"Oh no." He left? Yes',
                }
            )
        ],
        [
            ("business", "Mr. A. Cod fell 2.5%."),
            ("business", '"Oh no."'),
            ("business", "He left?"),
            ("business", "Yes"),
            *(("business", f"Day {day} was calm.") for day in range(10)),
            ("tech", "A robot swam £5m."),
            ("tech", "It was wet"),
        ],
    ),
    "banking77": (
        [
            table([["text", "category"], ["Where, oh where is\nmy card?", "card_arrival"]]),
            table([["text", "category"], ["Topped up", "top_up"]]),
        ],
        [("card_arrival", "Where, oh where is my card?"), ("top_up", "Topped up")],
    ),
    "m10_titles": (
        [b"77 Of  fish and men\n5 Cod\n", b"5 0\n77 3\n"],
        [("3", "Of fish and men"), ("0", "Cod")],
    ),
    "snips": (
        [b"play fish\nrate cod\n", b"PlayMusic\nRateBook\n", b"rain\n", b"GetWeather\n", b"", b""],
        [("PlayMusic", "play fish"), ("RateBook", "rate cod"), ("GetWeather", "rain")],
    ),
    "pascal_flickr": ([b"fish swims \njet lands\n", b"7\n0\n"], [("7", "fish swims"), ("0", "jet lands")]),
}
FORMS["atis"] = FORMS["snips"]
FORMS |= dict.fromkeys(("googlenews_ts", "googlenews_t", "googlenews_s"), FORMS["tweet"])


def test_every_data_set_has_a_reader_and_a_form_here():
    assert set(DATA_SETS) == set(FORMS)
    assert {data_set.reader for data_set in DATA_SETS.values()} == set(READERS)


@pytest.mark.parametrize("name", DATA_SETS)
def test_sources_are_pinned_to_a_commit(name):
    for url in DATA_SETS[name].urls:
        assert url.startswith(("https://raw.githubusercontent.com/", "https://codeload.github.com/"))
        assert any(len(part) == 40 and set(part) <= set("0123456789abcdef") for part in url.split("/"))


@pytest.mark.parametrize("name", FORMS)
def test_each_form_becomes_the_declared_file(site, tmp_path, monkeypatch, name):
    contents, rows = FORMS[name]
    for path, content in zip(paths(name), contents, strict=True):
        site.put(path, content)
    declared = declare(monkeypatch, name, rows)
    ((data_set, already),) = fetch([name], tmp_path / "new" / "folder")
    file = tmp_path / "new" / "folder" / f"{name}.tsv.gz"
    packed = file.read_bytes()
    assert gzip.decompress(packed) == declared
    assert packed[4:8] == bytes(4)  # gzip's time: the same file on every day
    assert (data_set.name, already) == (name, False)
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_what_is_there_is_not_fetched_again(site, tmp_path, monkeypatch):
    site.put(paths("tweet")[0], LINES.encode())
    declare(monkeypatch, "tweet", FORMS["tweet"][1])
    list(fetch(["tweet"], tmp_path))
    assert [already for _, already in fetch(["tweet"], tmp_path)] == [True]
    assert len(site.asked) == 1


@pytest.mark.parametrize(
    "damaged",
    [
        pytest.param(b"not gzip", id="not gzip"),
        pytest.param(gzip.compress(b"label\ttext\nx\tanother\n", mtime=0), id="other content"),
        pytest.param(gzip.compress(LINES.encode(), mtime=0)[:-9], id="cut short"),
    ],
)
def test_a_damaged_or_foreign_file_is_replaced(site, tmp_path, monkeypatch, damaged):
    site.put(paths("tweet")[0], LINES.encode())
    declared = declare(monkeypatch, "tweet", FORMS["tweet"][1])
    (tmp_path / "tweet.tsv.gz").write_bytes(damaged)
    list(fetch(["tweet"], tmp_path))
    assert gzip.decompress((tmp_path / "tweet.tsv.gz").read_bytes()) == declared


def test_other_content_is_kept_apart_and_both_sums_are_named(site, tmp_path, monkeypatch):
    declare(monkeypatch, "tweet", [("1", "something else")])
    site.put(paths("tweet")[0], LINES.encode())
    found = as_tsv(FORMS["tweet"][1])
    with pytest.raises(DataError) as error:
        list(fetch(["tweet"], tmp_path))
    assert hashlib.sha256(found).hexdigest() in str(error.value)
    assert DATA_SETS["tweet"].sha256 in str(error.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["tweet.tsv.gz.bad"]
    assert gzip.decompress((tmp_path / "tweet.tsv.gz.bad").read_bytes()) == found


def test_passing_trouble_is_sat_out(site, tmp_path, monkeypatch):
    site.put(paths("tweet")[0], LINES.encode(), 503, 429, 500)
    declare(monkeypatch, "tweet", FORMS["tweet"][1])
    list(fetch(["tweet"], tmp_path))
    assert len(site.asked) == 4


def test_pauses_grow(site, tmp_path, monkeypatch):
    slept = []
    monkeypatch.setattr(fetching, "_PAUSES_SECONDS", (1.0, 4.0))
    monkeypatch.setattr(fetching.time, "sleep", slept.append)
    site.put(paths("tweet")[0], b"", 503, 503, 503)
    with pytest.raises(DataError, match="503"):
        list(fetch(["tweet"], tmp_path))
    assert slept == [1.0, 4.0]


def test_what_is_going_on_is_told(site, monkeypatch):
    site.put("/x", b"12345", 503)
    monkeypatch.setattr(fetching, "_CHUNK_BYTES", 3)
    told = []
    url = DATA_SETS["tweet"].urls[0].partition("/jackyin12")[0] + "/x"
    assert fetching._download(url, "tweet", told.append) == b"12345"
    assert told == ["HTTP Error 503: Service Unavailable; again in 0 s", "0.0 MB", "0.0 MB"]


def test_a_missing_file_is_said_at_once(site, tmp_path):
    with pytest.raises(DataError, match=r"data/Tweet could not be downloaded .*404.*tweet\.tsv\.gz into the folder"):
        list(fetch(["tweet"], tmp_path))
    assert len(site.asked) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_body_that_breaks_off_is_no_data(site, tmp_path):
    site.put(paths("tweet")[0], LINES.encode(), announced=10_000)
    with pytest.raises(DataError, match="could not be downloaded"):
        list(fetch(["tweet"], tmp_path))
    assert len(site.asked) == 4


@pytest.mark.parametrize("announced", [None, 10**12])
def test_what_is_far_too_large_is_not_fetched(site, tmp_path, monkeypatch, announced):
    monkeypatch.setattr(fetching, "LARGEST_BYTES", 1000)
    name = next(iter(DATA_SETS))
    for url in DATA_SETS[name].urls:
        site.put(urlsplit(url).path, b"x" * 2000, announced=announced)
    with pytest.raises(DataError, match=r"has more than 0 MB .*more than any declared data set"):
        list(fetch([name], tmp_path))
    assert not list(tmp_path.iterdir())


def test_nobody_there(tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_PAUSES_SECONDS", ())
    monkeypatch.setitem(DATA_SETS, "tweet", replace(DATA_SETS["tweet"], urls=("http://127.0.0.1:9/Tweet",)))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with pytest.raises(DataError, match="check the connection"):
        list(fetch(["tweet"], tmp_path))


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("tweet", [b"<html>moved</html>"]),
        ("tweet", [b'{"words": "cod"}\n']),
        ("stackoverflow", [b"one\ntwo\n", b"1\n"]),
        ("stackoverflow", [b"one\n", b"21\n"]),
        ("agnews", [b"0\tfish\n"]),
        ("agnews", [b"no tab here\n"]),
        ("trec6", [b"DESC\n"]),
        ("dbpedia", [b"9,x\n", b"", b"1: Animal\n"]),
        ("dbpedia", [b"1\n", b"", b"1: Animal\n"]),
        ("yelp", [b'[{"label": "so so", "sentence": "x"}]', b"label,text,id\n"]),
        ("yelp", [b"[]", b"stars,review\n1,x\n"]),
        ("banking77", [b"question,intent\nx,y\n", b""]),
        ("m10_titles", [b"5 Cod\n", b"6 1\n"]),
        ("pascal_flickr", [b"one\ntwo\n", b"1\n"]),
        ("bbc_sentences", [b"no archive"]),
        ("bbc_sentences", [archive({"README.md": b"moved"})]),
        ("bbc_sentences", [archive({"bbc/tech/001.txt": b"x"})[:40]]),
    ],
)
def test_files_of_another_form_are_refused_in_a_sentence(site, tmp_path, name, contents):
    for path, content in zip(paths(name), contents, strict=True):
        site.put(path, content)
    with pytest.raises(DataError, match="is not in the form that was expected"):
        list(fetch([name], tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_is_refused_before_anything_is_asked_for(site, tmp_path):
    with pytest.raises(DataError, match="no data set 'fish' to fetch; the names are agnews"):
        list(fetch(["tweet", "fish"], tmp_path))
    assert site.asked == []


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("It rose. He fell.", ["It rose.", "He fell."]),
        ('"It rose." He fell.', ['"It rose."', "He fell."]),
        ("It rose. '' [He] fell", ["It rose. '' [He] fell"]),
        ('It rose. "[He] fell" 3 times.', ["It rose.", '"[He] fell" 3 times.']),
        ("It rose! 3 fell? Who?", ["It rose!", "3 fell?", "Who?"]),
        ("In No. 10 with J. Cod of AT&T. Fish Jr. left", ["In No. 10 with J. Cod of AT&T. Fish Jr. left"]),
        ("wait... and see... Then go", ["wait... and see...", "Then go"]),
        ("it cost 3.5m. in all", ["it cost 3.5m. in all"]),
    ],
)
def test_sentences(line, parts):
    assert sentences(line) == parts


@pytest.fixture
def command(site, monkeypatch, tmp_path):
    """The command alone, with two data sets published."""
    app = typer.Typer()
    app.command(epilog=fetch_command.EXAMPLES)(fetch_command.fetch)
    for name in ("tweet", "agnews"):
        site.put(paths(name)[0], FORMS[name][0][0])
        declare(monkeypatch, name, FORMS[name][1])
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path / "data"))
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_the_command_fetches_into_the_folder_of_the_bench_and_names_licences(command, tmp_path):
    answer = command("tweet", "agnews", "tweet")
    assert answer.exit_code == 0
    assert sorted(entry.name for entry in (tmp_path / "data").iterdir()) == ["agnews.tsv.gz", "tweet.tsv.gz"]
    assert answer.stderr.count("licence: none stated") == 2
    assert answer.stdout == ""


def test_the_command_says_what_it_did_as_json(command, tmp_path):
    command("tweet", "--folder", str(tmp_path / "other"))
    answer = command("tweet", "--folder", str(tmp_path / "other"), "--json")
    content = json.loads(answer.stdout)
    assert content["folder"] == str(tmp_path / "other")
    assert content["data_sets"]["tweet"]["already"] is True
    assert content["data_sets"]["tweet"]["file"] == str(tmp_path / "other" / "tweet.tsv.gz")


def test_all_means_every_data_set(command, tmp_path):
    answer = command("all")
    assert isinstance(answer.exception, DataError)  # the others are not published here
    assert "agnews" in answer.stderr


def test_help_has_examples_and_a_word_on_licences(command):
    said = " ".join(command("--help").stdout.split())
    assert "shoal-bench fetch tweet agnews" in said
    assert "no redistribution" in said
