"""Parameters, each declared once: its default, its limit and its meaning.

A class decorated with :func:`declared` lists its parameters as attributes::

    @declared
    class SCCL(FineTuned):
        eta: float = parameter(0.1, "Weight of the contrastive term.", number(above=0))
        max_length: int = MAX_LENGTH.but(32)  # declared elsewhere, with another default here

The constructor and its signature, the "Parameters" section of the docstring, the checks of
:func:`check_parameters` and the output of ``shoal methods`` all come from these declarations.
"""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar, dataclass_transform

import numpy as np

from shoal.errors import ParameterError, did_you_mean

_SECTION = re.compile(r"^(?:Attributes|Returns|Notes|References|Examples)\n-{4,}$", re.MULTILINE)
_WIDTH = 116
_SHOWN = 80
_LONGEST = 1000  # characters of a name or a path
LARGEST_WHOLE = 2**31 - 1  # of what counts steps, texts or starts; also the largest that every library can hold
_EXACT = 2**53  # a larger whole number is no floating-point number, and some libraries cannot take it for one

Class = TypeVar("Class")


@dataclass(frozen=True)
class Limit:
    """The allowed values of a parameter.

    Attributes
    ----------
    allows : callable
        Tells whether a value is allowed.
    refusal : str
        The error message after ``name=value``.
    choices : tuple
        The allowed values, if they can be listed.
    """

    allows: Callable[[Any], bool]
    refusal: str
    choices: tuple[Any, ...] = ()


def whole(least: int = 1, most: int = LARGEST_WHOLE) -> Limit:
    """Allow whole numbers within bounds.

    Examples
    --------
    >>> whole().refusal, whole(0, 9).refusal
    ('but it must be a whole number >= 1 and <= 2147483647.', 'but it must be a whole number >= 0 and <= 9.')
    """
    refusal = f"but it must be a whole number >= {least} and <= {most}."
    return Limit(lambda value: _is_whole(value) and least <= value <= most, refusal)


def width() -> Limit:
    """Allow the width of a layer or of a vector: beyond the limit the weights alone would fill the memory."""
    return whole(1, 65_536)


def number(
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
) -> Limit:
    """Allow finite numbers within bounds.

    Examples
    --------
    >>> number(least=0, below=1).refusal, number(above=0).refusal
    ('but it must be a number >= 0 and < 1.', 'but it must be a number > 0.')
    """
    bounds = ((">", above), (">=", least), ("<=", most), ("<", below))
    bounded = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if math.isfinite(bound))
    if (least, most) == (0, 1):
        bounded = "from 0 to 1"

    def allows(value: Any) -> bool:
        return _is_number(value) and above < value < below and least <= value <= most

    return Limit(allows, f"but it must be a number {bounded}.")


def share_of(what: str) -> Limit:
    """Allow numbers from 0 to below 1: a share that is never the whole."""
    return replace(number(least=0, below=1), refusal=f"but it is a share of {what}; pass a value from 0 to below 1.")


def one_of(*choices: Any) -> Limit:
    """Allow the listed values."""
    listed = ", ".join(map(str, choices))

    def allows(value: Any) -> bool:
        # 1 == True in Python, but a flag is not a number
        return _is_plain(value) and any(
            value == choice and isinstance(value, bool) == isinstance(choice, bool) for choice in choices
        )

    return Limit(allows, f"is unknown; pass one of {listed}.", choices)


FLAG = one_of(True, False)


def words(what: str) -> Limit:
    """Allow any string with something in it; ``what`` says what it may name.

    Examples
    --------
    >>> words("'builtin' or a folder").refusal
    "but it must be a string: 'builtin' or a folder."
    """
    return Limit(
        lambda value: isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST and value.isprintable(),
        f"but it must be a string: {what}.",
    )


def optional(limit: Limit) -> Limit:
    """Also allow None."""
    return replace(limit, allows=lambda value: value is None or limit.allows(value))


@dataclass(frozen=True)
class Parameter:
    """One parameter of a class.

    Attributes
    ----------
    default : Any
        The default value.
    meaning : str
        What it does, the paper's value, and why the default differs.
    limit : Limit, optional
        The allowed values; any value if None.
    kw_only : bool
        Whether the constructor takes it by keyword only.
    """

    default: Any
    meaning: str
    limit: Limit | None = None
    kw_only: bool = True

    def but(self, default: Any = ..., meaning: str | None = None) -> Any:
        """Return the same parameter with another default or meaning."""
        return replace(
            self,
            default=self.default if default is ... else default,
            meaning=self.meaning if meaning is None else meaning,
        )

    def check(self, name: str, value: Any) -> None:
        """Raise an error if the value is not allowed."""
        if self.limit is not None and not self.limit.allows(value):
            near = did_you_mean(value, (str(choice) for choice in self.limit.choices))
            raise ParameterError(f"{name}={shown(value)} {self.limit.refusal}{near}")


def parameter(default: Any, meaning: str, limit: Limit | None = None) -> Any:
    """Declare a parameter; returns Any, so that ``eta: float = parameter(...)`` type-checks."""
    return Parameter(default, meaning, limit)


def positional(*, default: Any, meaning: str, kw_only: bool) -> Any:
    """Declare a parameter that may be passed by position; type checkers need ``kw_only=False`` in the call."""
    return Parameter(default, meaning, kw_only=kw_only)


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(positional,))
def declared(cls: type[Class]) -> type[Class]:
    """Build the constructor of a class from its parameters, and add them to its docstring.

    A class inherits the parameters of its bases and may declare them again with other defaults.

    Examples
    --------
    >>> @declared
    ... class Fish:
    ...     '''A fish.'''
    ...     fins: int = parameter(7, "How many it has.", whole())
    >>> Fish(fins=3).fins, list(parameters_of(Fish))
    (3, ['fins'])
    >>> check_parameters(Fish(fins=0))
    Traceback (most recent call last):
    shoal.errors.ParameterError: fins=0 but it must be a whole number >= 1 and <= 2147483647.
    """
    for name in inspect.get_annotations(cls):
        declaration = cls.__dict__.get(name)
        if isinstance(declaration, Parameter):
            metadata = {"parameter": declaration}
            setattr(cls, name, field(default=declaration.default, metadata=metadata, kw_only=declaration.kw_only))
    made: type[Class] = dataclass(eq=False, repr=False, kw_only=True)(cls)
    made.__doc__ = _documented(made.__doc__ or "", made)
    return made


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return the declared parameters of a class by name: positional ones, those new in it, then those of its bases."""
    named = {each.name: each.metadata["parameter"] for each in fields(cls) if "parameter" in each.metadata}
    homes = {name: depth for depth, base in enumerate(cls.__mro__) for name in inspect.get_annotations(base)}
    return dict(sorted(named.items(), key=lambda item: (item[1].kw_only, homes[item[0]])))


def check_parameters(owner: object) -> None:
    """Raise an error for the first parameter of an object whose value is not allowed."""
    for name, declaration in parameters_of(type(owner)).items():
        declaration.check(name, getattr(owner, name))


def _documented(text: str, cls: type) -> str:
    """Insert the parameters before the first section of a docstring."""
    text = inspect.cleandoc(text)
    kinds = {each.name: str(each.type) for each in fields(cls)}
    lines = ["Parameters", "----------"]
    for name, declaration in parameters_of(cls).items():
        choices = declaration.limit.choices if declaration.limit is not None else ()
        kind = "{" + ", ".join(map(repr, choices)) + "}" if choices and choices != FLAG.choices else kinds[name]
        lines.append(f"{name} : {kind}, default={declaration.default!r}")
        lines += textwrap.wrap(declaration.meaning, _WIDTH, initial_indent="    ", subsequent_indent="    ")
    section = _SECTION.search(text)
    end = len(text) if section is None else section.start()
    return "\n\n".join(part for part in (text[:end].strip(), "\n".join(lines), text[end:].strip()) if part) + "\n"


def shown(value: Any) -> str:
    """Return a value as Python writes it, shortened."""
    try:
        text = repr(value)
    except Exception:  # a number of more digits than Python writes, someone's own object
        text = f"({type(value).__name__})"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _is_whole(value: Any) -> bool:
    """Tell whether it is a whole number; a bool is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    """Tell whether it is a finite number; a bool is not."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        return False
    if isinstance(value, int):
        return abs(value) <= _EXACT
    return math.isfinite(value)


def _is_plain(value: Any) -> bool:
    """Tell whether it can be compared with the choices: an array or a list cannot."""
    return value is None or isinstance(value, str | bool | int | float)
