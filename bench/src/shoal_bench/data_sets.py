"""The data sets of the papers: what they are, where they are looked for, and which rows a sample takes.

A data set is a file ``NAME.tsv.gz`` in the folder that ``SHOAL_DATA`` names: a header line ``label<TAB>text``, then
one text a line, no quoting. The known ones are checked against the sha256 of their *uncompressed* content; any other
file of that form in the folder is a data set too, unchecked. No data comes with Shoal.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.cache import cache_folder
from shoal.corpus import Corpus
from shoal.errors import DataError

_NO_LICENCE = "none stated; for evaluation only, not to be passed on"


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
    licence, home : str
        What is known of its licence, and where it comes from.
    papers : tuple of str
        Who reports figures on it: sccl, clusterbert, deccrl, mlm-dec.
    metrics : tuple of str
        The scores that they report.
    remark : str
        How it differs from what the papers used, where that is known.
    """

    name: str
    n_texts: int
    n_classes: int
    sha256: str
    title: str = ""
    licence: str = ""
    home: str = ""
    papers: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ("acc", "nmi")
    remark: str = ""

    def file(self, folder: Path | None = None) -> Path:
        """Return where its file is looked for."""
        return (folder or data_folder()) / f"{self.name}.tsv.gz"

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
    loaded = _read(DataSet(name, 0, 0, "").file(folder))
    return DataSet(name, len(loaded.texts), len(set(loaded.labels)), loaded.sha256, title=name)


def is_present(name: str, folder: Path | None = None) -> bool:
    """Tell whether the file of a data set is in the folder; its content is not looked at."""
    return DataSet(name, 0, 0, "").file(folder).is_file()


def _read(file: Path) -> LabelledTexts:
    """Read a file; rows without text are left out."""
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


_STC2 = "GitHub jacoxu/STC2 (Xu et al. 2015, 2017)"
_GSDMM = "GitHub jackyin12/GSDMM (Yin and Wang)"
_UNDAMAGED = (
    "The papers used a copy in which words are cut at the letter pairs lt and gt; this is the authors' own, undamaged "
    "text, so scores differ a little."
)

DATA_SETS: dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        DataSet(
            name="agnews",
            n_texts=8_000,
            n_classes=4,
            sha256="1c9a767c019c9ae5037d899b9e308e66f852255acb3e344c950a990ced680403",
            title="AgNews",
            licence=_NO_LICENCE,
            home="GitHub rashadulrakib/short-text-clustering-enhancement (Rakib et al. 2020)",
            papers=("sccl", "clusterbert", "deccrl"),
            remark="2,000 texts of each class, already lower-cased and without stop words, digits and punctuation.",
        ),
        DataSet(
            name="searchsnippets",
            n_texts=12_340,
            n_classes=8,
            sha256="963aede578afa4742705d67707c19131c85775d19e226647445ef61b6a70d8aa",
            title="SearchSnippets",
            licence=_NO_LICENCE,
            home=_STC2,
            papers=("sccl", "clusterbert"),
            remark="Keywords only: lower-cased, without stop words and punctuation.",
        ),
        DataSet(
            name="stackoverflow",
            n_texts=20_000,
            n_classes=20,
            sha256="6b073edd6a7ace01d7a4b6fe4060c9de72816ff5ea1b358284bf3fe75f3cfcb9",
            title="StackOverflow",
            licence=_NO_LICENCE + "; Kaggle to be acknowledged",
            home=_STC2,
            papers=("sccl", "clusterbert", "deccrl"),
            remark="Raw titles.",
        ),
        DataSet(
            name="biomedical",
            n_texts=20_000,
            n_classes=20,
            sha256="93aad402f584ada9d530e947d1e627bf5d9749080ca258c21fe73a5ae378968d",
            title="Biomedical",
            licence=_NO_LICENCE,
            home=_STC2,
            papers=("sccl", "clusterbert", "deccrl"),
            remark="Lower-cased, without punctuation.",
        ),
        DataSet(
            name="googlenews_ts",
            n_texts=11_109,
            n_classes=152,
            sha256="402b926561887910238d68896ed7aa5ed6ddb35df7d4b3a9b950acfab845d468",
            title="GoogleNews-TS",
            licence=_NO_LICENCE,
            home=_GSDMM,
            papers=("sccl",),
            remark="Titles and snippets. " + _UNDAMAGED,
        ),
        DataSet(
            name="googlenews_t",
            n_texts=11_108,
            n_classes=152,
            sha256="b1ecc2d02af7cd2b09f7e720ae3466d23742cd8d293dc60b921d8723d4edf79a",
            title="GoogleNews-T",
            licence=_NO_LICENCE,
            home=_GSDMM,
            papers=("sccl", "clusterbert"),
            remark="Titles; one empty text is left out. " + _UNDAMAGED,
        ),
        DataSet(
            name="googlenews_s",
            n_texts=11_108,
            n_classes=152,
            sha256="17a11e019ff2ddd855923e618955a17f7e2f39ed67f15aa27af5fe4e0d1c3288",
            title="GoogleNews-S",
            licence=_NO_LICENCE,
            home=_GSDMM,
            papers=("sccl",),
            remark="Snippets; one empty text is left out. " + _UNDAMAGED,
        ),
        DataSet(
            name="tweet",
            n_texts=2_472,
            n_classes=89,
            sha256="5a149e6cd0a7e82a6cf3f69632ca29db0c1397bde1e36ad70b7832d1fcaab491",
            title="Tweet",
            licence=_NO_LICENCE,
            home=_GSDMM,
            papers=("sccl",),
            remark="Lower-cased, without stop words and punctuation; some classes have a single text.",
        ),
        DataSet(
            name="bbc_sentences",
            n_texts=21_788,
            n_classes=5,
            sha256="75fa1cfbac365886d36f18287e6d62e63e50493df1a982a1df5f49368a249405",
            title="BBC sentences",
            licence="the BBC's articles, offered for non-commercial research only",
            home="BBC News 2004-2005 (Greene and Cunningham 2006)",
            papers=("clusterbert",),
            remark="The first ten sentences of each article; how ClusterBERT came to its 22,000 is not known.",
        ),
        DataSet(
            name="trec6",
            n_texts=5_452,
            n_classes=6,
            sha256="bf0fe017501e30d390f5f0c0b6b65378f0f4b0d5caa70d90ea100812d0716ffe",
            title="TREC-6",
            licence="none stated",
            home="TREC questions, training part (Li and Roth 2002)",
            papers=("mlm-dec",),
            metrics=("purity",),
        ),
        DataSet(
            name="dbpedia",
            n_texts=10_000,
            n_classes=14,
            sha256="f6fc5130f79c618acb0253651e382f3c3cf55982506c7e85a5ca03f89ea2eead",
            title="DBpedia",
            licence="CC BY-SA and GFDL (DBpedia)",
            home="DBpedia-14 by way of GitHub J-zin/DHIM",
            papers=("mlm-dec",),
            metrics=("purity",),
            remark="10,000 abstracts as in the paper, but not the paper's own draw.",
        ),
        DataSet(
            name="yelp",
            n_texts=5_995,
            n_classes=5,
            sha256="b4e0d3ab9e6c57ff7b02c627beb2fbc31383c04d2e45602c79ac369aeaf03b3a",
            title="Yelp",
            licence="Yelp's own terms",
            home="Yelp Review Full (Zhang et al. 2015), in parts from two GitHub repositories",
            papers=("mlm-dec",),
            metrics=("purity",),
            remark="5,995 reviews; the paper has 10,000.",
        ),
    )
}
