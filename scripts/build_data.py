"""Write what is generated from the decision table: ``monitor/data/decision.json`` and ``docs/decision.md``.

python scripts/build_data.py            write both
python scripts/build_data.py --check    exit 1 if one of them is not what the table says
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from monitor.decision.handbook import handbook  # noqa: E402
from monitor.decision.table_source import encode, parse  # noqa: E402

SOURCE = ROOT / "monitor" / "data" / "decision.yaml"


def wanted() -> dict[Path, bytes]:
    """Each generated file and its content."""
    table = parse(SOURCE.read_text(encoding="utf-8"), SOURCE.name)
    return {
        ROOT / "monitor" / "data" / "decision.json": encode(table),
        ROOT / "docs" / "decision.md": handbook(table).encode("utf-8"),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 if something is out of date")
    args = parser.parse_args()
    stale = [p for p, data in wanted().items() if not p.exists() or p.read_bytes().replace(b"\r\n", b"\n") != data]
    if args.check:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run python scripts/build_data.py", file=sys.stderr)
        return 1 if stale else 0
    for path, data in wanted().items():
        path.write_bytes(data)
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
