"""Made corpora of any size: the word statistics of real texts, and as many classes as they have."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence

# Share of a text's words that give way to words of other texts of its class.
CHANGED = 1 / 3


def made_texts(texts: Sequence[str], labels: Sequence[str], n: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Return ``n`` distinct texts and their classes; fewer texts are always the head of more.

    Each is one of the given texts in which a third of the words, on average, give way to words of other texts of its
    class, drawn as often as they occur there.

    Parameters
    ----------
    texts, labels : sequence of str
        Real texts and their classes.
    n : int
        How many are wanted.
    seed : int, default=0
        For everything random.

    Returns
    -------
    (list of str, list of str)

    Examples
    --------
    >>> texts, labels = made_texts(["red apple pie", "green pear", "fast car", "slow old car"], list("aabb"), 20)
    >>> len(set(texts)), sorted(set(labels)), any("car" in t for t, label in zip(texts, labels) if label == "a")
    (20, ['a', 'b'], False)
    """
    rng = random.Random(seed)
    split = [(text.split(), label) for text, label in zip(texts, labels, strict=True) if text.strip()]
    words_of: dict[str, list[str]] = defaultdict(list)
    for words, label in split:
        words_of[label] += words
    made: dict[str, str] = {}
    while len(made) < n:
        words, label = rng.choice(split)
        own = words_of[label]
        changed = [rng.choice(own) if rng.random() < CHANGED else word for word in words]
        while " ".join(changed) in made:
            changed.append(rng.choice(own))
        made[" ".join(changed)] = label
    return list(made), list(made.values())
