"""Corpora from WordNet: its definitions, or its words, with the lexicographers' files as classes."""

from __future__ import annotations

from collections import defaultdict

from shoal_bench.drawn_texts import drawn_of_each

# The files of each part of speech, by their numbers (lexnames(5WN)).
FILES = {
    "noun": (
        "Tops", "act", "animal", "artifact", "attribute", "body", "cognition", "communication", "event", "feeling",
        "food", "group", "location", "motive", "object", "person", "phenomenon", "plant", "possession", "process",
        "quantity", "relation", "shape", "state", "substance", "time",
    ),
    "verb": (
        "body", "change", "cognition", "communication", "competition", "consumption", "contact", "creation", "emotion",
        "motion", "perception", "possession", "social", "stative", "weather",
    ),
}  # fmt: skip
FIRST_NUMBER = {"noun": 3, "verb": 29}
# What a text is, and of which part of speech; words only of files whose names say what a word stands for.
KINDS = {"nouns": "noun", "verbs": "verb", "words": "noun"}
WORD_FILES = (
    "animal", "body", "communication", "feeling", "food", "location", "person", "plant", "substance", "time",
)  # fmt: skip
# "Tops" has the roots of all the others, "motive" a few dozen definitions.
LEFT_OUT = {"Tops", "motive"}


def glosses(data: str, kind: str, each: int, seed: int = 0) -> tuple[list[str], list[str]]:
    r"""Return distinct texts and their classes.

    Parameters
    ----------
    data : str
        WordNet's ``data.noun`` or ``data.verb``.
    kind : str
        ``nouns`` or ``verbs``: definitions, without examples; ``words``: the nouns themselves, a word or two each.
    each : int
        How many texts of a class at the most, drawn at random; a text of two classes is left out.
    seed : int, default=0
        Draws them.

    Examples
    --------
    >>> rose = "12620546 20 n 02 rose 0 rosebush 0 001 @ 13112664 n 0000 | a shrub with thorns; \"a red rose\"  "
    >>> glosses(rose, "nouns", each=10), glosses(rose, "words", each=10)
    ((['a shrub with thorns'], ['plant']), (['rose'], ['plant']))
    """
    part = KINDS[kind]
    classes: dict[str, set[str]] = defaultdict(set)
    for line in data.splitlines():
        head, _, gloss = line.partition(" | ")
        fields = head.split()
        if line.startswith(" ") or len(fields) < 5:  # the licence
            continue
        name = FILES[part][int(fields[1]) - FIRST_NUMBER[part]]
        text = fields[4].replace("_", " ") if kind == "words" else gloss.partition('; "')[0].strip()
        if text and name not in LEFT_OUT and (kind != "words" or name in WORD_FILES):
            classes[text].add(name)
    return drawn_of_each(classes, each, seed)
