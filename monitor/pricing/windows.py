"""What a client makes of a model's window, where that differs from what the vendor sells.

Claude Code takes 200k for models of the 4.6 generation unless their name carries ``[1m]``, and the native million from
Opus 4.7 on; Codex runs with the windows of its own model list. From ``windows`` of the generated price file. A log that
states its window, or a prompt larger than this, knows better.
"""

from __future__ import annotations

from monitor.pricing.names import bare_key, parse
from monitor.pricing.table import PriceTable


def client_window(table: PriceTable, source: str, model: str | None, provider: str | None = None) -> int | None:
    """Prompt tokens that the client ``source`` (name of a reader, such as ``claude-code``) gives ``model``.

    The vendor's window where the client has no rule of its own; None if the model is not known.
    """
    limits = table.limits(model, provider)
    window = limits.window if limits else None
    parsed = parse(model, provider)
    if parsed is None or parsed.million:
        return window
    own = table.windows.get(_SAME_RULES.get(source, source))
    if own is None:
        return window
    name = table.canonical(model, provider)
    found = own.get(bare_key(name)) if name else own.get(parsed.key)
    if found is None:
        return window
    return found if window is None else min(found, window)


#: other ways the same client leaves its traces
_SAME_RULES = {"claude-code-otel": "claude-code", "codex-otel": "codex", "codex-exec": "codex"}
