"""Checks that a wheel and an sdist hold what the program needs at run time.

usage: check_wheel.py WHEEL SDIST
"""

import sys
import tarfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def main(wheel: str, sdist: str) -> int:
    """Compare the archives with the source tree."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    wanted = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "monitor").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    missing = sorted(wanted - names)
    with tarfile.open(sdist) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    missing += sorted(wanted - packed)
    missing += [name for name in ("README.md", "LICENSE", "pyproject.toml") if name not in packed]
    for name in missing:
        print("missing:", name)
    print(f"{len(names)} files in the wheel ({Path(wheel).stat().st_size // 1024} KiB), {len(packed)} in the sdist")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
