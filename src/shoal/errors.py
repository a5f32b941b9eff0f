"""What can go wrong, as one tree.

::

    ShoalError                    exit code 1
      ├─ DataError                exit code 3   the input: file, column, encoding, texts, vectors
      ├─ ParameterError           exit code 4   a parameter's name or value
      ├─ MissingExtraError        exit code 5   an optional package is not installed
      ├─ ModelError               exit code 6   a backbone cannot be found, read or trusted
      └─ RunFolderError           exit code 7   a run folder is missing, foreign, damaged or in the way

Exit code 2 belongs to the command line's own usage errors and 130 to Ctrl-C. Every message says the value,
the limit and the remedy.
"""

from __future__ import annotations


class ShoalError(Exception):
    """Base of every error that Shoal raises on purpose."""

    exit_code = 1


class DataError(ShoalError, ValueError):
    """The input cannot be used as it is."""

    exit_code = 3


class ParameterError(ShoalError, ValueError):
    """A parameter has a name or a value that does not work."""

    exit_code = 4


class MissingExtraError(ShoalError, ImportError):
    """An optional package is needed.

    Parameters
    ----------
    feature : str
        What was asked for, as the user knows it.
    extra : str
        The extra that brings it.
    """

    exit_code = 5

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package; run: pip install 'shoal[{extra}]'")


class ModelError(ShoalError, RuntimeError):
    """A backbone cannot be found, read or trusted."""

    exit_code = 6


class RunFolderError(ShoalError, RuntimeError):
    """A run folder is missing, foreign, damaged or in the way."""

    exit_code = 7
