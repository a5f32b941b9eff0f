"""The data sets of the papers: what they are, where they are looked for, and which rows a sample takes.

A data set is a file ``NAME.tsv.gz`` in the folder that ``SHOAL_DATA`` names, or else in ``data`` of the cache folder: a
header line ``label<TAB>text``, then one text per line, no quoting. Those that ``data_sets.toml`` declares are checked
against the sha256 of their *uncompressed* content; any other file of that form in the folder is a data set too,
unchecked. No data comes with Shoal.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tomllib
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cache import cache_folder
from shoal.corpus import Corpus
from shoal.errors import DataError


@dataclass(frozen=True)
class DataSet:
    """A labelled set of texts, as declared or as found in the folder.

    Attributes
    ----------
    name : str
        Its name, and its file's without ``.tsv.gz``.
    n_texts, n_classes : int
        Its size, and the number of its classes, which is the number of clusters asked for.
    sha256 : str
        Of the uncompressed file.
    title : str
        Its name for people.
    licence, source : str
        What is known of its licence, and who publishes it.
    papers : tuple of str
        Who reports figures on it: sccl, clusterbert, deccrl, mlm-dec.
    remark : str
        How it differs from what the papers used, where that is known.
    urls : tuple of str
        The published files.
    reader, classes : str
        How :mod:`shoal_bench.sources` makes rows of them, and the names of their numbered classes.
    """

    name: str
    n_texts: int
    n_classes: int
    sha256: str
    title: str = ""
    licence: str = ""
    source: str = ""
    papers: tuple[str, ...] = ()
    remark: str = ""
    urls: tuple[str, ...] = ()
    reader: str = ""
    classes: str = ""

    def file(self, folder: Path | None = None) -> Path:
        """Return where its file is looked for."""
        return _file(self.name, folder)

    def load(self, folder: Path | None = None, n_texts: int | None = None) -> LabelledTexts:
        """Read its texts and labels, all or the fixed sample of ``n_texts``.

        Raises
        ------
        DataError
            If the file is not there, cannot be read, or is not the declared one.
        """
        loaded = _read(self.file(folder))
        if loaded.sha256 != self.sha256:
            raise DataError(
                f"{self.file(folder)} is not the data set {self.name!r}: the sha256 of its content is "
                f"{loaded.sha256[:16]}…, expected {self.sha256[:16]}…; run: shoal-bench fetch {self.name}"
            )
        return loaded.sample(n_texts)


@dataclass(frozen=True)
class LabelledTexts:
    """Texts with their classes, and the checksum of the file that they came in."""

    texts: list[str]
    labels: list[str]
    sha256: str

    def sample(self, n_texts: int | None) -> LabelledTexts:
        """Return the fixed sample of ``n_texts``, in the file's order."""
        return self._rows(sample_rows(len(self.texts), n_texts))

    def split(self, share: float) -> tuple[LabelledTexts, LabelledTexts]:
        """Return a fixed part of the texts, ``share`` of them, and the others."""
        rows = sample_rows(len(self.texts), round(share * len(self.texts)))
        return self._rows(rows), self._rows(np.setdiff1d(np.arange(len(self.texts)), rows))

    def _rows(self, rows: NDArray[np.int64]) -> LabelledTexts:
        """Return some of the texts."""
        return LabelledTexts([self.texts[i] for i in rows], [self.labels[i] for i in rows], self.sha256)


class Statistics(NamedTuple):
    """What texts are like: distinct words, texts, words per text, classes, largest class by smallest."""

    vocabulary: int
    n_texts: int
    words: float
    n_classes: int
    ratio: float


def statistics_of(data: LabelledTexts) -> Statistics:
    """Return what SCCL's table 2 shows of a data set.

    Examples
    --------
    >>> statistics_of(LabelledTexts(["red fish", "Red sea", "a"], ["x", "x", "y"], ""))
    Statistics(vocabulary=4, n_texts=3, words=1.6666666666666667, n_classes=2, ratio=2.0)
    """
    words = [word for text in data.texts for word in text.lower().split()]
    sizes = Counter(data.labels).values()
    n_texts = len(data.texts)
    return Statistics(len(set(words)), n_texts, len(words) / n_texts, len(sizes), max(sizes) / min(sizes))


def data_folder() -> Path:
    """Return the folder that ``SHOAL_DATA`` names; without it, ``data`` in the cache folder."""
    named = os.environ.get("SHOAL_DATA")
    return Path(named).expanduser() if named else cache_folder() / "data"


def sample_rows(size: int, n_texts: int | None) -> NDArray[np.int64]:
    """Return the rows of the fixed sample: the same for everybody, whatever the seed of the run.

    Parameters
    ----------
    size : int
        Rows of the whole set.
    n_texts : int or None
        Rows wanted; all if None, or if there are no more.

    Examples
    --------
    >>> sample_rows(10, 4).tolist()
    [2, 4, 8, 9]
    >>> sample_rows(3, 4).tolist()
    [0, 1, 2]
    """
    if n_texts is None or n_texts >= size:
        return np.arange(size)
    return np.sort(np.random.RandomState(0).permutation(size)[:n_texts]).astype(np.int64)


def find_data_set(name: str, folder: Path | None = None) -> DataSet:
    """Return the data set called ``name``: a declared one, or one that the folder holds beside them.

    Raises
    ------
    DataError
        If it is neither.

    Examples
    --------
    >>> find_data_set("tweet").n_classes
    89
    """
    if name in DATA_SETS:
        return DATA_SETS[name]
    loaded = _read(_file(name, folder))
    return DataSet(name, len(loaded.texts), len(set(loaded.labels)), loaded.sha256, title=name)


def is_present(name: str, folder: Path | None = None) -> bool:
    """Tell whether the file of a data set is in the folder; its content is not looked at."""
    return _file(name, folder).is_file()


def _file(name: str, folder: Path | None) -> Path:
    """Return where the file of a data set is looked for."""
    return (folder or data_folder()) / f"{name}.tsv.gz"


def _read(file: Path) -> LabelledTexts:
    """Read a file; rows without text are omitted."""
    name = file.name.removesuffix(".tsv.gz")
    try:
        content = gzip.decompress(file.read_bytes())
    except FileNotFoundError:
        other = f"run: shoal-bench fetch {name}" if name in DATA_SETS else f"use one of {', '.join(DATA_SETS)}."
        raise DataError(
            f"data set {name!r}: there is no file {file}; set SHOAL_DATA to the folder that holds it, or {other}"
        ) from None
    except (OSError, EOFError, zlib.error) as reason:
        raise DataError(f"data set {name!r}: {file} cannot be read ({reason}); put it there again.") from reason
    try:
        corpus = Corpus.read(io.BytesIO(content), text="text", label="label", format="tsv")
    except DataError as reason:
        raise DataError(f"data set {name!r}, {file}: {reason} Its first line must be: label<TAB>text") from reason
    rows = [i for i, text in enumerate(corpus.texts) if text]
    labels = corpus.labels or []
    unlabelled = sum(not labels[i] for i in rows)
    if unlabelled:
        raise DataError(f"data set {name!r}: {unlabelled} of {len(rows)} texts in {file} have no label; give each one.")
    return LabelledTexts(
        [corpus.texts[i] for i in rows], [str(labels[i]) for i in rows], hashlib.sha256(content).hexdigest()
    )


def _declared() -> dict[str, DataSet]:
    """Read ``data_sets.toml``."""
    declared = tomllib.loads(Path(__file__).with_name("data_sets.toml").read_text(encoding="utf-8"))
    for facts in declared.values():
        facts |= {key: tuple(value) for key, value in facts.items() if isinstance(value, list)}
    return {name: DataSet(name=name, **facts) for name, facts in declared.items()}


DATA_SETS: dict[str, DataSet] = _declared()
