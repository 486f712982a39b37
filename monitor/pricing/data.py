"""The generated price file ``monitor/data/prices.json``: its shape, and reading it.

One model a line, decoded into typed records in about a millisecond. ``scripts/update_prices.py`` writes it; nobody
edits it by hand. ``docs/prices.md`` explains the fields to people.
"""

import os.path

import msgspec

SCHEMA = "ctxmon.price-data/1"
PATH = os.path.join(os.path.dirname(os.path.dirname(__file__)), "data", "prices.json")

#: input, output, cache read, cache write 5 min, cache write 1 h; USD per million tokens
Rates = tuple[float | None, float | None, float | None, float | None, float | None]
#: a way of being served at another price -> what it multiplies: input and cache writes, output, cache reads
Modes = dict[str, tuple[float, float, float]]
#: the same behind the prompt size above which they hold
TierRow = tuple[int, float | None, float | None, float | None, float | None, float | None]


class Peak(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Rates at certain hours. ``utc``: minutes of the day [from, to); ``days``: 1 = Monday … 7 = Sunday, () = all."""

    utc: tuple[tuple[int, int], ...]
    rates: Rates
    days: tuple[int, ...] = ()


class Period(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, rename={"since": "from"}):
    """The rates of a model from a UTC date on (None: since ever). ``estimated``: a source leaves part of it open."""

    rates: Rates
    since: str | None = None
    tiers: tuple[TierRow, ...] = ()
    peaks: tuple[Peak, ...] = ()
    estimated: bool = False


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, gc=False, kw_only=True):
    """One model of one vendor or gateway.

    ``also``: gateways that ask the very same; ``aliases``: bare names; ``modes``: ``batch``, ``flex``, ``priority``,
    ``fast`` and ``us`` (served in the United States only).
    """

    model: str
    provider: str
    prices: tuple[Period, ...]
    window: int | None = None
    max_output: int | None = None
    aliases: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    modes: Modes = {}
    source: str


class PriceData(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The whole file. ``date``: day up to which the sources were read; ``windows``: what a client uses of a window."""

    schema: str
    date: str
    sources: dict[str, str]
    models: tuple[Entry, ...]
    windows: dict[str, dict[str, int]]


_decoder: msgspec.json.Decoder[PriceData] | None = None


def decode(raw: bytes) -> PriceData:
    """Decode and validate the file's bytes. Raises ``msgspec.ValidationError`` for a wrong shape."""
    global _decoder
    if _decoder is None:
        _decoder = msgspec.json.Decoder(PriceData)
    return _decoder.decode(raw)


def load(path: str = PATH) -> PriceData:
    """Read the generated file (about 1 ms of CPU)."""
    with open(path, "rb") as stream:
        return decode(stream.read())


def encode(data: PriceData) -> bytes:
    """The file's bytes: header, then one model a line, so that a change of one price is one line of a diff."""
    enc = msgspec.json.Encoder()
    head = [f"{k}:{enc.encode(getattr(data, k[1:-1])).decode()}" for k in ('"schema"', '"date"', '"sources"')]
    windows = ",\n".join(f"{enc.encode(k).decode()}:{enc.encode(v).decode()}" for k, v in data.windows.items())
    lines = ",\n".join(enc.encode(_tidy(e)).decode() for e in data.models)
    return ("{" + ",\n".join(head) + ',\n"windows":{\n' + windows + '\n},\n"models":[\n' + lines + "\n]}\n").encode()


def _tidy(value: object) -> object:
    """Whole numbers without ``.0``."""
    if isinstance(value, msgspec.Struct):
        return {k: _tidy(v) for k, v in msgspec.to_builtins(value).items()}
    if isinstance(value, dict):
        return {k: _tidy(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tidy(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
