"""A server on this machine that speaks S3, with its address and credentials in the environment, as people have them."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator

import pytest


@contextlib.contextmanager
def s3_server() -> Iterator[None]:
    """Start the server, with an empty bucket ``shop``."""
    import s3fs
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"ENDPOINT_URL": f"http://{host}:{port}", "ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**settings, "DEFAULT_REGION": "us-east-1", "EC2_METADATA_DISABLED": "true"}.items():
            patch.setenv(f"AWS_{name}", value)
        s3fs.S3FileSystem.clear_instance_cache()  # of other servers
        store = s3fs.S3FileSystem()
        try:
            store.mkdir("shop")
            yield
            store.rm("shop", recursive=True)  # two servers in one process share what they hold
        finally:
            server.stop()
            s3fs.S3FileSystem.clear_instance_cache()
