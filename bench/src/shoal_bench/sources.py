"""How the published files of the data sets become rows of label and text.

Whether a reader here does the same as the one that made the declared files is
decided by their checksums, which :mod:`shoal_bench.fetch` compares.
"""

from __future__ import annotations

import csv
import io
import json
import re
import tarfile
from collections.abc import Callable, Iterator, Sequence

from shoal_bench.data_sets import DataSet

Rows = Iterator[tuple[str, str]]

_GAP = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")


def cleaned(text: str) -> str:
    r"""Return the text on one line: no byte-order mark, one space for any run of white space and control characters.

    Examples
    --------
    >>> cleaned(" one\ttwo \r\n three")
    'one two three'
    """
    return _GAP.sub(" ", text.replace("\ufeff", "")).strip()


def decoded(content: bytes) -> str:
    """Return the text of a file in UTF-8, or else in the old Western encoding of Windows."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _lines(content: bytes) -> list[str]:
    """Return the lines of a file; only a line feed ends one."""
    lines = decoded(content).split("\n")
    return lines[:-1] if not lines[-1] else lines


def _numbered(files: Sequence[bytes], classes: str) -> Rows:
    """Read STC2's pair of files: a text per line; the number of its class, from 1, per line.

    Written from the repository's description of its files; the checksum decides.
    """
    name_of = dict(enumerate(classes.split(), start=1))
    texts, numbers = map(_lines, files)
    for text, number in zip(texts, numbers, strict=True):
        yield name_of[int(number)], text


def _tabbed(files: Sequence[bytes], classes: str) -> Rows:
    """Read lines of class number, tab, text: the AgNews file of Rakib et al.

    Written from how others read the file; the checksum decides.
    """
    name_of = dict(enumerate(classes.split(), start=1))
    for line in _lines(files[0]):
        number, _, text = line.partition("\t")
        yield name_of[int(number)], text


def _json_lines(files: Sequence[bytes]) -> Rows:
    """Read GSDMM's files: an object with ``text`` and ``cluster`` a line. Compared with the real files' beginning."""
    for line in _lines(files[0]):
        entry = json.loads(line)
        yield str(entry["cluster"]), entry["text"]


def _questions(files: Sequence[bytes]) -> Rows:
    """Read TREC's questions: ``COARSE:fine question`` a line; the one byte outside ASCII becomes a space.

    Written from the format of the original release; the checksum decides.
    """
    for line in _lines(files[0].decode("ascii", errors="replace").replace("\ufffd", " ").encode()):
        kind, text = line.split(maxsplit=1)
        yield kind.partition(":")[0], text


def _abstracts(files: Sequence[bytes]) -> Rows:
    """Read DHIM's DBpedia: csv files of class number and abstract, the last file has ``number: name`` a line.

    Compared with the real files' beginning.
    """
    *tables, meta = files
    names = dict(line.split(": ", 1) for line in _lines(meta) if line[:1].isdigit())
    for table in tables:
        for number, text in csv.reader(io.StringIO(decoded(table), newline="")):
            yield names[number].strip(), text


def _reviews(files: Sequence[bytes]) -> Rows:
    """Read Yelp's reviews: a JSON list of ``label`` and ``sentence``, and a csv file of ``label,text,id``.

    A review of the second file that the first has too is omitted. Compared with the real files' beginning.
    """
    moods = ("very negative", "negative", "neutral", "positive", "very positive")
    stars = ("1 star", "2 stars", "3 stars", "4 stars", "5 stars")
    seen = set()
    for entry in json.loads(files[0]):
        text = _unescaped(entry["sentence"].removeprefix("Text: "))
        seen.add(text)
        yield stars[moods.index(entry["label"])], text
    for row in csv.DictReader(io.StringIO(decoded(files[1]), newline="")):
        if (text := _unescaped(row["text"])) not in seen:
            yield stars[int(row["label"])], text


def _unescaped(review: str) -> str:
    """Undo the escapes of line ends and quotation marks; letters written as numbers stay so, as in the source."""
    return cleaned(re.sub(r"\\[nrt]", " ", review).replace('\\"', '"'))


_SENTENCE_END = re.compile(r"""(?<=[.!?])(["')\]]*)\s+(?=["'(\[]*[A-Z0-9])""")
# What a full stop belongs to when it ends no sentence: an initial, or one of these.
_INITIAL = re.compile(r"\b[A-Z]\.$")
_SHORTENED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|Rev|Hon|St|Jr|Sr|Sen|Rep|Gov|Gen|Col|Lt|Capt|Sgt|No|vs|etc|e\.g|i\.e"
    r"|Jan|Feb|Mar|Apr|Aug|Sep|Sept|Oct|Nov|Dec)\.$"
)
_SENTENCES_AN_ARTICLE = 10


def sentences(line: str) -> list[str]:
    """Split a line after ``.``, ``!`` or ``?`` where a capital, a digit or a quotation follows.

    Examples
    --------
    >>> sentences('Mr. J. Fish said: "It rose 2.5% in Dec. 2004." He was glad!')
    ['Mr. J. Fish said: "It rose 2.5% in Dec. 2004."', 'He was glad!']
    """
    found, start = [], 0
    for gap in _SENTENCE_END.finditer(line):
        before = line[start : gap.start()]
        if not gap[1] and (_INITIAL.search(before) or _SHORTENED.search(before)):
            continue
        found.append(line[start : gap.end(1)])
        start = gap.end()
    return [*found, line[start:]]


def _articles(files: Sequence[bytes]) -> Rows:
    """Read the BBC's articles, a repository's archive: the first ten sentences of each, without its headline.

    Written from the description; the rule for sentences agrees with every sentence of the declared file. Compared with
    one real article; the checksum decides.
    """
    with tarfile.open(fileobj=io.BytesIO(files[0]), mode="r:gz") as archive:
        articles = {}
        for member in archive:
            place = re.search(r"/bbc/([a-z]+)/(\d+)\.txt$", member.name)
            content = archive.extractfile(member) if place and member.isfile() else None
            if place and content:
                articles[place[1], place[2]] = decoded(content.read())
    if not articles:
        raise ValueError("the archive has no bbc/CLASS/NUMBER.txt")
    for (label, _), article in sorted(articles.items()):
        _headline, *paragraphs = [line for line in map(cleaned, article.split("\n")) if line]
        every = [sentence for paragraph in paragraphs for sentence in sentences(paragraph)]
        for sentence in every[:_SENTENCES_AN_ARTICLE]:
            yield label, sentence


def _categories(files: Sequence[bytes]) -> Rows:
    """Read csv files of ``text,category``: Banking77. Written from its description; the checksum decides."""
    for file in files:
        for row in csv.DictReader(io.StringIO(decoded(file), newline="")):
            yield row["category"], row["text"]


def _identified(files: Sequence[bytes]) -> Rows:
    """Read TriDNR's files: a number and a title per line; the same number and its class per line.

    The titles were compared with the real file's end, the classes are read as others describe them.
    """
    titles, classes = map(_lines, files)
    class_of = dict(line.split() for line in classes if line.strip())
    for line in titles:
        number, _, title = line.partition(" ")
        yield class_of[number], title


def _paired(files: Sequence[bytes]) -> Rows:
    """Read pairs of files: a text per line; its class per line. The parts follow each other."""
    for texts, labels in zip(files[::2], files[1::2], strict=True):
        for text, label in zip(_lines(texts), _lines(labels), strict=True):
            yield label, text


READERS: dict[str, Callable[..., Rows]] = {
    reader.__name__.removeprefix("_"): reader
    for reader in (
        _numbered,
        _tabbed,
        _json_lines,
        _questions,
        _abstracts,
        _reviews,
        _articles,
        _categories,
        _identified,
        _paired,
    )
}


def rows_of(data_set: DataSet, files: Sequence[bytes]) -> Rows:
    """Yield label and text of each row in the contents of a data set's published files, in the order of its URLs."""
    return READERS[data_set.reader](files, *([data_set.classes] if data_set.classes else []))
