"""Every test and doctest runs without a network and with a cache of its own; what takes over a second is slow."""

from __future__ import annotations

import gc
import ipaddress
import os
import socket
from itertools import count

import pytest
import torch
from _pytest.doctest import DoctestItem

# Read once, when the libraries are imported.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

# A program that draws, without tests: to import it would cost every worker a second.
collect_ignore = ["bench/demo_picture.py"]

_CACHE_NUMBERS = count()


def pytest_configure():
    """Leave the imports alone: none of what they bring is garbage, and to look for it takes seconds."""
    gc.disable()


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    """Mark the doctests that take long ``slow``, which a docstring cannot do itself, and put the slow tests first.

    What is left at the end is then quick, so that no worker waits for another. Those with UMAP begin: next to each
    other they are run by one worker, and only that one waits for UMAP's compiler.
    """
    for item in items:
        if isinstance(item, DoctestItem) and _takes_long(item):
            item.add_marker("slow")
    items.sort(key=lambda item: (item.get_closest_marker("slow") is None, "umap" not in item.name))


def _takes_long(item: DoctestItem) -> bool:
    """Tell by the source: it loads the built-in model, by name or by default, or reads the whole standard library."""
    source = "".join(example.source for example in item.dtest.examples)
    fits = "methods" in item.path.parts and ".fit(" in source and "representation=" not in source
    return fits or 'load("builtin"' in source or "standard_library_texts(" in source


@pytest.fixture(autouse=True)
def _builtin_model_only_if_slow(request, monkeypatch):
    """Fail a test that loads the built-in model without being marked ``slow``."""
    if request.node.get_closest_marker("slow") is None:
        from shoal.encoder import backbone

        def source_of(name: str) -> str:
            source = original(name)
            if name == backbone.BUILTIN:
                pytest.fail("this loads the built-in model: mark it slow, or use tiny_backbone")
            return source

        original = backbone.source_of
        monkeypatch.setattr(backbone, "source_of", source_of)


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    """Tiny models are faster on one thread, and to the last bit the same only on as many threads as before."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session", autouse=True)
def _shared_cache(tmp_path_factory):
    """Give fixtures of a wider scope than a test a cache that is not the user's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    """Give each test an empty cache, outside its ``tmp_path`` so that it may look at that."""
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path_factory.getbasetemp() / f"cache-{next(_CACHE_NUMBERS)}"))


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Fail a test that looks up or connects to another machine, even if the code swallows the error."""
    attempts: list[str] = []

    def guarded(method, host_of):
        def call(*args, **kwargs):
            host = host_of(*args)
            if host is not None and not _is_here(host):
                attempts.append(str(host))
                raise OSError(f"the tests have no network, but {host!r} was asked for")
            return method(*args, **kwargs)

        return call

    def address_host(sock, address, *_):
        return address[0] if sock.family in (socket.AF_INET, socket.AF_INET6) else None

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name), address_host))
    monkeypatch.setattr(socket, "getaddrinfo", guarded(socket.getaddrinfo, lambda host, *_: host))
    yield
    if attempts:
        pytest.fail(f"the test tried to reach {', '.join(attempts)}")


@pytest.fixture
def same_partition():
    """Tell whether two labellings are the same but for the numbers of the clusters."""

    def same(left, right) -> bool:
        return len(set(zip(left, right, strict=True))) == len(set(left)) == len(set(right))

    return same


def _is_here(host: str | bytes) -> bool:
    """Tell this machine from all others."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
