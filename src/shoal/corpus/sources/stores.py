"""Object stores, through fsspec: where files are there, reading and writing them."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from shoal.corpus.addresses import STORES, is_pattern, scheme_of, shown
from shoal.corpus.readers import first_line
from shoal.corpus.sources.data_sets import Part, choose_files, open_parts, read_parts, without_untyped
from shoal.corpus.sources.local_files import fixed_part
from shoal.errors import DataError, MissingExtraError, ShoalError


class _Content(io.BytesIO):
    """The bytes of a file, with its name."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def read_stored(
    address: str, read: Callable[..., tuple[pl.DataFrame, dict[str, Any]]], format: str | None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Read a file of an object store, or all tables of a folder or a pattern there as one; ``read`` reads one of them.

    Raises
    ------
    DataError
        If there is none, or the store refuses.
    MissingExtraError
        If the client of the store is not installed.
    """
    with telling(address):
        store, path = store_of(address)
        if not is_pattern(address) and store.isfile(path):
            return read(_fetched(store, path))
        root = fixed_part(path) if is_pattern(address) else path
        names = _matches(store, path) if is_pattern(address) else store.find(path, detail=True)
        if not names:
            raise DataError(f"no file is at {address}; check the address.")
        try:
            files = choose_files([name for name, facts in names.items() if facts.get("size")], root, format)
        except DataError as error:
            raise DataError(f"{address}: {error}") from error

        def read_part(path: str) -> Part:
            frame, notes = read(_fetched(store, path))
            return Part(str(store.unstrip_protocol(path)), without_untyped(frame), notes)

        return read_parts(open_parts(files, read_part))


def _matches(store: Any, pattern: str) -> dict[str, Any]:
    """Return the files that match, and those in folders that match."""
    found: dict[str, Any] = {}
    for name, facts in store.glob(pattern, detail=True).items():
        found |= {name: facts} if facts["type"] == "file" else store.find(name, detail=True)
    return found


def _fetched(store: Any, path: str) -> _Content:
    """Return the content of a file."""
    return _Content(store.cat_file(path), str(store.unstrip_protocol(path)))


def store_of(address: str) -> tuple[Any, str]:
    """Return fsspec's file system for an address, and the path there.

    Raises
    ------
    DataError
        If the address has a password in it.
    MissingExtraError
        If the client of the store is not installed.
    """
    scheme = scheme_of(address) or ""
    if shown(address) != address or "::" in address:
        raise DataError(
            f"an address of {scheme}:// has no password and no second address in it; keep credentials where the "
            "store's own tools look for them: in the environment or in their configuration."
        )
    try:
        import fsspec

        store, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise MissingExtraError(f"{scheme}://", STORES[scheme]) from error
    store.invalidate_cache()  # what others have written since
    return store, str(path)


@contextlib.contextmanager
def telling(address: str) -> Iterator[None]:
    """Turn the errors of a store's client into ours."""
    try:
        yield
    except ShoalError:
        raise
    except FileNotFoundError as error:
        raise DataError(f"no such file: {shown(address)} ({first_line(error)}); check the address.") from error
    except PermissionError as error:
        raise DataError(
            f"no permission for {shown(address)} ({first_line(error)}); check your credentials for that store."
        ) from error
    except Exception as error:  # each client has errors of its own
        raise DataError(
            f"{shown(address)} cannot be used ({type(error).__name__}: {first_line(error)}); check the address, the "
            "network and your credentials for that store."
        ) from error
