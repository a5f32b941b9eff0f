"""Odd values for every declared parameter of every method: accepted where they make sense, else a ParameterError."""

from __future__ import annotations

import contextlib
import io
import random
import re
import signal
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from campaign.table import Attack
from cli_tickets import made_table
from shoal.errors import ShoalError
from shoal.methods import METHODS
from shoal.parameters import parameters_of
from tiny_backbone import tiny_backbone

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, 3, -1, 7, 31, 1000, 2**31, 2**32, 2**53, 2**63, 10**30, 10**400, 10**5000),
    *(0.0, -0.0, 0.5, 1.0, 1.5, -0.1, 1e-30, 1e-300, 1e6, 1e30, 1e300, float("nan"), float("inf"), -float("inf")),
    *("", " ", "abc", "none", "auto", "all", "1", "0.5", "true", "\0", "\ud800", "é", "a" * 5000, "../..", "/", "~"),
    *("builtin", "-1", "nan", "english", "\x1b[2J", "char_swap:", "char_swap:abc", "wordnet+", "+", ":", "mlflow:x"),
    *([], [0], [1, 2], [-1], ["a"], [None], [0.5, "a"], [[1]], (), (1, 2), {}, {"a": 1}, {"char_swap": {"x": 1}}),
    *({"char_swap": None}, {1: 2}, set(), b"abc", 1j, object(), len, int, np.int64(3), np.float32(0.5), np.array(3)),
    *(np.array([1, 2]), np.nan, np.bool_(True), np.str_("abc"), range(3), Path("abc"), Ellipsis, NotImplemented),
)
# A tiny fit of each family, so that a value that is accepted is also used.
_SHORT = {"max_steps": 2, "batch_size": 10}
SMALL: dict[str, dict[str, Any]] = {
    "shoal": {**_SHORT, "effort": "balanced", "unequal": False},
    **{name: {"pretrain_epochs": 1, "max_steps": 2, "hidden": [8]} for name in ("dec", "idec", "dcn", "ae-kmeans")},
    **{name: {**_SHORT, "augmentation": "char_swap"} for name in ("sccl", "deccrl")},
    **dict.fromkeys(("tsdae", "clusterbert", "mlm-dec"), _SHORT),
}
KINDS: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (int, float, np.integer, np.floating),
    "str": (str,),
    "bool": (bool, np.bool_),
    "None": (type(None),),
}
SECONDS = 20


class TookTooLong(BaseException):
    """A value that was accepted keeps the machine busy."""


class OddValues:
    """One fit per value, in this process; a fit that takes long was accepted."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        self.backbone = tiny_backbone(folder / "backbone")
        self.texts = made_table(18)["body"].to_list()

    def attacks(self, count: int) -> Iterator[Attack]:
        """Try ``count`` values: each parameter of each method in turn, with values in a random order."""
        places = [(name, key) for name in METHODS for key in parameters_of(METHODS[name].estimator)]
        self.rng.shuffle(places)
        for number in range(count):
            name, key = places[number % len(places)]
            yield self.attack(name, key, self.rng.choice(ODD))

    def attack(self, name: str, key: str, value: Any) -> Attack:
        """Fit with one odd value."""
        what = f"{name}: {key}={_shown(value)}"
        params = {"n_clusters": 3, "n_init": 1, "backbone": self.backbone, **SMALL.get(name, {}), key: value}
        known = parameters_of(METHODS[name].estimator)
        try:
            with _limited(), contextlib.redirect_stderr(io.StringIO()):
                METHODS[name](**{each: params[each] for each in params if each in known}).fit(self.texts)
        except ShoalError as error:
            return Attack("parameter values", what, "" if _is_sentence(str(error)) else f"unclear: {error}")
        except TookTooLong:
            pass
        except BaseException as error:
            return Attack("parameter values", what, f"{type(error).__name__}: {str(error)[:300]}")
        return Attack("parameter values", what, "" if _makes_sense(name, key, value) else "it was accepted")


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(_: int, __: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _makes_sense(name: str, key: str, value: Any) -> bool:
    """Tell whether a value is of a kind that the declaration names."""
    (kind,) = (str(each.type) for each in fields(METHODS[name].estimator) if each.name == key)
    parts = {part.strip() for part in kind.split("|")}
    if not parts <= set(KINDS):
        return True
    flag = isinstance(value, bool | np.bool_)
    return any(isinstance(value, KINDS[part]) and (not flag or part == "bool") for part in parts)


def _is_sentence(message: str) -> bool:
    """Tell whether a message is one readable sentence or two."""
    return bool(message.strip()) and len(message) < 1500 and not re.search(r"Traceback|<locals>", message)


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.60}"
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
