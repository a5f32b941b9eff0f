from __future__ import annotations

import bz2
import lzma
from collections import Counter

import pytest

from shoal.errors import DataError
from shoal_bench.languages import package_descriptions, parallel_sentences

PACKAGES = """Package: chess
Version: 1
Section: games

Package: libfoo
Section: libs

Package: lute
Section: sound
"""
GERMAN = """Package: chess
Description-md5: 0
Description-de: Schachspiel
 Ein Spiel
 .
 für zwei.

Package: libfoo
Description-md5: 1
Description-de: Bibliothek

Package: lute
Description-md5: 2
Description-de: Lautensimulator
 Musik.
"""


def test_every_language_says_the_same_things():
    corpus = parallel_sentences()
    assert set(Counter(zip(corpus.topics, corpus.languages, strict=True)).values()) == {36}
    assert len(set(corpus.texts)) == len(corpus.texts)


def test_descriptions_have_their_section_as_topic(tmp_path):
    (tmp_path / "Packages.xz").write_bytes(lzma.compress(PACKAGES.encode()))
    (tmp_path / "Translation-de.bz2").write_bytes(bz2.compress(GERMAN.encode()))
    corpus = package_descriptions(tmp_path, seed=0)
    assert corpus == (["Schachspiel", "Lautensimulator"], ["games", "sound"], ["de", "de"])
    assert package_descriptions(tmp_path, seed=0, long=True).texts[0] == "Schachspiel. Ein Spiel für zwei."


def test_a_folder_without_packages_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no Packages\.xz"):
        package_descriptions(tmp_path, seed=0)
