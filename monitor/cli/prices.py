"""`ctxmon prices`: the price and context-limit table in use."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from monitor.cli import common

DESCRIPTION = """Prices in USD per million tokens and context limits in tokens, with the date each price holds from."""


def add_parser(subparsers: Any, parent: argparse.ArgumentParser) -> None:
    """Options of `prices`; ``--model`` is the common one."""
    parser = common.command(subparsers, "prices", parent, DESCRIPTION)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")


def run(args: argparse.Namespace) -> int:
    """Print the table. Exit code 3 if no model matches."""
    from monitor.pricing.listing import rows

    found = rows(common.price_table(args), args.model)
    if args.format == "json":
        import msgspec

        common.write_output(msgspec.json.encode({"schema": "ctxmon.prices/1", "models": found}).decode(), None)
    else:
        common.write_output(_text(found), None)
    return 0 if found else common.NOTHING


def _text(found: list[dict[str, Any]]) -> str:
    from monitor.reports.text import UNKNOWN, Ink, table, tokens, width, wrap

    if not found:
        return "No model matches. A model that is not in the table is shown as unpriced; --prices FILE adds it."

    def price(value: float | None) -> str:
        return UNKNOWN if value is None else f"{value:g}"

    head = (
        "model",
        "provider",
        "from",
        "input",
        "output",
        "read",
        "write 5m",
        "write 1h",
        "window",
        "output max",
        "above",
    )
    lines = [
        (
            row["model"],
            row["provider"] or UNKNOWN,
            row["valid_from"] or UNKNOWN,
            price(row["input"]),
            price(row["output"]),
            price(row["cache_read"]),
            price(row["cache_write_5m"]),
            price(row["cache_write_1h"]),
            tokens(row["window"]),
            tokens(row["max_output"]),
            " ".join(f"{tokens(tier['above'])}: {tier['input']:g}/{tier['output']:g}" for tier in row["tiers"]),
        )
        for row in found
    ]
    drop = ("output max", "above", "write 1h", "write 5m", "from", "provider", "window")
    ink, most = Ink(sys.stdout), max(40, width())
    rows = table(head, lines, right="lllrrrrrrrl", indent="", ink=ink, most=most, drop=drop, flex="model", least=12)
    note = "USD per million tokens"
    if "above" in rows[0]:
        note += "; above: input/output price of a request whose prompt is larger than that"
    return "\n".join([*rows, "", *(ink(line, "dim") for line in wrap(note, most, ""))])
