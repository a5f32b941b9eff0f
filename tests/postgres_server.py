"""A PostgreSQL server of one's own: Debian's, in a temporary folder, reached through a socket in it and on loopback."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PASSWORD = "hunter2 & more"
NO_SERVER = "NO POSTGRESQL: databases on a server are NOT tested; apt-get install postgresql"


@dataclass(frozen=True)
class Server:
    """Where the server listens; the user is ann, her password is above."""

    port: int


def programs() -> Path | None:
    """Return the folder of the newest server's programs, which Debian keeps off the path; None without one."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


@contextlib.contextmanager
def postgres_server() -> Iterator[Server]:
    """Make a cluster, start it, and remove it at the end; as root under the account that Debian made for it."""
    folder = Path(tempfile.mkdtemp(prefix="shoal-pg-"))  # not pytest's, which no other account may enter
    account = "postgres" if os.geteuid() == 0 else None
    if account is not None:
        os.chown(folder, pwd.getpwnam(account).pw_uid, -1)
    port = _free_port()

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [programs() / program, *arguments], user=account, cwd=folder, check=True, capture_output=True, timeout=60
        )

    cluster, words = folder / "cluster", folder / "password"
    words.write_text(PASSWORD)
    words.chmod(0o644)
    # a query that goes wrong must not fill the disk
    options = f"-k {folder} -p {port} -c listen_addresses=127.0.0.1 -c fsync=off -c temp_file_limit=64MB"
    try:
        run("initdb", "-D", str(cluster), "-U", "ann", "-A", "scram-sha-256", f"--pwfile={words}", "-E", "UTF8", "-N")
        # its output goes to a file: through a pipe the server would keep it open
        run("pg_ctl", "-D", str(cluster), "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield Server(port)
        finally:
            run("pg_ctl", "-D", str(cluster), "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
