"""WordNet's database files, read directly (their format is described in the manual page wndb(5WN)).

NLTK is not needed: its reader opens a folder only inside NLTK's data path, and only if that has ``lexnames`` and
``index.sense`` too, which synonyms do not need and Debian's ``wordnet-base`` omits.
"""

from __future__ import annotations

import os
import re
import sys
import zipfile
from collections import defaultdict
from functools import cached_property
from pathlib import Path

from shoal.errors import MissingExtraError

_PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
_ADJECTIVE_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may occur, as in "galore(ip)"


Folder = Path | zipfile.Path


class WordNetNotFoundError(MissingExtraError):
    """WordNet's files are in none of the places searched.

    Parameters
    ----------
    places : list of Path
        The places searched.
    """

    def __init__(self, places: list[Path]) -> None:
        ImportError.__init__(
            self,
            f"WordNet's files (index.noun, data.noun, …) are in none of {', '.join(map(str, places))}; "
            "install Debian's wordnet-base, run nltk.download('wordnet'), or pass wordnet_dir=FOLDER.",
        )


def find_wordnet(wordnet_dir: str | Path | None = None) -> Folder:
    """Find the folder of WordNet's files.

    Parameters
    ----------
    wordnet_dir : str or Path, optional
        The only place to search; by default NLTK's data folders (zipped or not) and the system's.

    Returns
    -------
    Path or zipfile.Path

    Raises
    ------
    WordNetNotFoundError
        If the files are in none of them.

    Examples
    --------
    >>> find_wordnet("no/such/folder")  # doctest: +ELLIPSIS, +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    shoal.augment.wordnet_files.WordNetNotFoundError: WordNet's files ... or pass wordnet_dir=FOLDER.
    """
    if wordnet_dir is not None:
        places = [Path(wordnet_dir)]
    else:
        places = [data / "corpora" / "wordnet" for data in _nltk_data_folders()]
        places.append(Path("/usr/share/wordnet"))
    for place in places:
        if all((place / f"{kind}.{part}").is_file() for kind in ("index", "data") for part in _PARTS_OF_SPEECH):
            return place
        if zipfile.is_zipfile(archive := place.with_suffix(".zip")):
            return zipfile.Path(archive) / "wordnet"
    raise WordNetNotFoundError(places)


def _nltk_data_folders() -> list[Path]:
    """Return NLTK's search path, without importing NLTK."""
    named = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    prefix = Path(sys.prefix)
    shared = [prefix / "nltk_data", prefix / "share" / "nltk_data", prefix / "lib" / "nltk_data"]
    system = [Path(f"/usr/{place}/nltk_data") for place in ("share", "local/share", "lib", "local/lib")]
    return [*named, Path.home() / "nltk_data", *shared, *system]


class WordNetFiles:
    """Synonyms from WordNet's ``index`` and ``data`` files.

    Parameters
    ----------
    folder : Path or zipfile.Path
        A folder that `find_wordnet` found.
    """

    def __init__(self, folder: Folder) -> None:
        self._data = {part: (folder / f"data.{part}").read_bytes() for part in _PARTS_OF_SPEECH}
        self._indexes = {part: (folder / f"index.{part}").read_text("utf-8") for part in _PARTS_OF_SPEECH}

    def synonyms(self, word: str) -> list[str]:
        """List the other words of all senses of a word.

        Parameters
        ----------
        word : str
            A base form in lower case; an inflected form has no synonyms.

        Returns
        -------
        list of str
            In WordNet's order, without repetition; "_" in the files becomes a space.
        """
        found = dict.fromkeys(other for part, at in self._senses.get(word, ()) for other in self._words(part, at))
        return [other for other in found if other.lower() != word]

    @cached_property
    def _senses(self) -> dict[str, list[tuple[str, int]]]:
        """Part of speech and byte offset of each sense of a base form, by frequency."""
        senses: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for part, index in self._indexes.items():
            for line in index.splitlines():
                if not line.startswith(" "):  # the licence
                    # lemma pos synset_cnt p_cnt ptr_symbol… sense_cnt tagsense_cnt synset_offset…
                    fields = line.split()
                    senses[fields[0]] += [(part, int(offset)) for offset in fields[-int(fields[2]) :]]
        return dict(senses)

    def _words(self, part: str, offset: int) -> list[str]:
        """Return the words of one synset: ``synset_offset lex_filenum ss_type w_cnt word lex_id word lex_id …``."""
        data = self._data[part]
        fields = data[offset : data.index(b"\n", offset)].decode("utf-8").split(" ")
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return [_ADJECTIVE_MARKER.sub("", word).replace("_", " ") for word in words]
