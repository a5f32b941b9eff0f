"""The exceptions, as one tree.

::

    ShoalError                    exit code 1
      ├─ DataError                exit code 3   the input: file, column, encoding, texts, vectors
      ├─ ParameterError           exit code 4   a parameter's name or value
      ├─ MissingExtraError        exit code 5   an optional package is not installed
      ├─ ModelError               exit code 6   a backbone cannot be found, read or trusted
      ├─ RunFolderError           exit code 7   a run folder is missing, not Shoal's, damaged or in the way
      └─ EngineError              exit code 8   a cluster cannot be reached, or its workers keep ending

Exit code 2 is for usage errors on the command line, 130 for Ctrl-C. Every message states the value, the limit and
the remedy.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a question with the known name that is nearest to a wrong one; nothing if none is near.

    Examples
    --------
    >>> did_you_mean("K-Mean", ["shoal", "kmeans"]), did_you_mean("fish", ["shoal"])
    (" Did you mean 'kmeans'?", '')
    """
    by_lower = {each.lower(): each for each in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1) if isinstance(name, str) else []
    return f" Did you mean {by_lower[close[0]]!r}?" if close else ""


class ShoalError(Exception):
    """Base class of every error that Shoal raises on purpose."""

    exit_code = 1


class DataError(ShoalError, ValueError):
    """The input cannot be used as it is."""

    exit_code = 3


class ParameterError(ShoalError, ValueError):
    """A parameter has an invalid name or value."""

    exit_code = 4


class MissingExtraError(ShoalError, ImportError):
    """An optional package is needed.

    Parameters
    ----------
    feature : str
        What was requested, in the user's terms.
    extra : str
        The extra that installs it.
    otherwise : str
        What else the user can do.
    """

    exit_code = 5

    def __init__(self, feature: str, extra: str, otherwise: str = "") -> None:
        super().__init__(f"{feature} needs an optional package; run: pip install 'shoal[{extra}]'{otherwise}")


class ModelError(ShoalError, RuntimeError):
    """A backbone cannot be found, read or trusted."""

    exit_code = 6


class RunFolderError(ShoalError, RuntimeError):
    """A run folder is missing, not Shoal's, damaged or in the way."""

    exit_code = 7


class EngineError(ShoalError, RuntimeError):
    """A cluster cannot be reached or started, or its workers keep ending."""

    exit_code = 8
