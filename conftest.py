"""Every test runs without a network and with a cache of its own."""

from __future__ import annotations

import ipaddress
import os
import socket
from itertools import count

import pytest
import torch

# Read once, when the libraries are imported.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

_CACHE_NUMBERS = count()


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


def _is_here(host: str | bytes) -> bool:
    """Tell this machine from all others."""
    name = host.decode() if isinstance(host, bytes) else host
    if name in ("", "localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
