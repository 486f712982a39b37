"""A real PostgreSQL server for tests, from the system's packages, on loopback and with a password."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "pass-word-1"


def _binaries() -> Path | None:
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in places if (place / "initdb").is_file() and (place / "postgres").is_file()), None)


def _as_postgres(command: list[str]) -> list[str]:
    """PostgreSQL refuses to run as root: then it runs as the user its package made."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", *command]
    return command


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an empty database on a server that ends with the tests."""
    place = _binaries()
    if place is None:
        pytest.skip("PostgreSQL's programs (initdb, postgres) are not installed")
    root = os.name == "posix" and os.geteuid() == 0
    if root and (shutil.which("setpriv") is None or subprocess.run(["id", "postgres"], capture_output=True).returncode):
        pytest.skip("running as root, and there is no user 'postgres' to run PostgreSQL as")
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ctxmon-pg-") as folder:
        home = Path(folder)
        if root:
            shutil.chown(home, "postgres", "postgres")
        data, secret = home / "data", home / "secret"
        secret.write_text(PASSWORD, encoding="utf-8")
        secret.chmod(0o644)
        made = subprocess.run(
            _as_postgres([str(place / "initdb"), "-D", str(data), "-U", "tester", "-A", "scram-sha-256",
                          f"--pwfile={secret}", "-E", "UTF8", "--no-locale", "-N"]),
            capture_output=True, timeout=120, cwd="/",
        )  # fmt: skip
        if made.returncode:
            pytest.skip("initdb does not work here")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        process = subprocess.Popen(
            _as_postgres([str(place / "postgres"), "-D", str(data), "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                          "-k", str(home), "-c", "fsync=off", "-c", "shared_buffers=16MB", "-c", "max_connections=10"]),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
        )  # fmt: skip
        try:
            url = f"postgresql://tester:{PASSWORD}@127.0.0.1:{port}/postgres"
            _wait(url, process)
            yield url
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def _wait(url: str, process: subprocess.Popen[bytes]) -> None:
    import time

    psycopg = pytest.importorskip("psycopg", reason="the extra db is not installed")
    for _ in range(150):
        if process.poll() is not None:
            pytest.skip("the PostgreSQL server does not start here")
        try:
            psycopg.connect(url, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    pytest.fail("the PostgreSQL server does not answer")


@pytest.fixture
def empty(server: str) -> Iterator[tuple[str, Any]]:
    """URL and a connection to a database without tables."""
    import psycopg

    with psycopg.connect(server) as connection:
        connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        connection.commit()
        yield server, connection
