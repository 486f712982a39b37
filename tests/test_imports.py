"""Heavy packages are imported only by the command that needs them: what people wait for at every start."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sources.test_files import row

HEAVY = ("pandas", "numpy", "textual", "rich", "httpx", "tiktoken", "pyarrow", "sqlalchemy", "dask")


def loaded(code: str) -> set[str]:
    probe = f"import sys, json\n{code}\nprint('\\n' + json.dumps(sorted({{m.partition('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, encoding="utf-8", check=True)
    return set(json.loads(done.stdout.rstrip().rpartition("\n")[2]))


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["report", "--help"]])
def test_help_imports_next_to_nothing(args: list[str]) -> None:
    found = loaded(f"from monitor.cli import main\nmain({args!r})")
    assert found.isdisjoint({*HEAVY, "yaml", "msgspec", "asyncio", "sqlite3"})


@pytest.mark.parametrize("command", ["calls", "report", "decide", "doctor"])
def test_commands_on_logs_stay_light(command: str, tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_bytes(row(1) + row(2))
    found = loaded(f"from monitor.cli import main\nmain([{command!r}, {str(log)!r}])")
    assert found.isdisjoint({*HEAVY, "yaml", "asyncio"})


def test_the_core_needs_no_heavy_package() -> None:
    found = loaded(
        "import monitor, monitor.records, monitor.sessions.load, monitor.decision, monitor.pricing, monitor.conversation"
    )
    assert found.isdisjoint(HEAVY)
