"""What to set in each client so that its calls pass through the recorder."""

from __future__ import annotations

from monitor.recorder.upstreams import KNOWN, Routes, Upstream

#: which API an upstream speaks if its name or host tells
_SPEAKS = {"openai": "openai", "anthropic": "anthropic", "gemini": "gemini"}


def _base(address: str, upstream: Upstream | None) -> str:
    return address if upstream is None or not upstream.name else f"{address}/{upstream.name}"


def _find(routes: Routes, api: str) -> Upstream | None:
    """The upstream to use for an API: the one known for it, else the one that takes every path."""
    for upstream in routes.all:
        if upstream.label == api:
            return upstream
    root = routes.root
    return root if root is not None and root.label not in _SPEAKS else None


def _v1(base: str, upstream: Upstream) -> str:
    """The base URL for clients that want the version in it."""
    return base if upstream.base.endswith("/v1") else f"{base}/v1"


def snippets(address: str, routes: Routes) -> str:
    """Settings for the clients, as text. ``address`` is the recorder's own, without a slash at its end."""
    parts: list[str] = []
    anthropic, openai, gemini = (_find(routes, api) for api in ("anthropic", "openai", "gemini"))
    if anthropic is not None:
        base = _base(address, anthropic)
        if anthropic.base.endswith("/v1"):  # they put the version in front of their paths themselves
            parts.append("Claude Code, Anthropic SDK\n  give the upstream without /v1 at its end")
        else:
            parts.append(f"Claude Code\n  export ANTHROPIC_BASE_URL={base}")
            parts.append(
                f'Anthropic SDK (Python)\n  client = anthropic.Anthropic(base_url="{base}")   # or ANTHROPIC_BASE_URL'
            )
    if openai is not None:
        v1 = _v1(_base(address, openai), openai)
        parts.append(f'Codex, in ~/.codex/config.toml, above the first [table]\n  openai_base_url = "{v1}"')
        if openai.label == "openai":
            parts.append(
                "Codex with a ChatGPT login: record with `--upstream chatgpt=https://chatgpt.com/backend-api/codex`\n"
                f'  openai_base_url = "{address}/chatgpt"'
            )
        parts.append(f'OpenAI SDK (Python)\n  client = openai.OpenAI(base_url="{v1}")   # or OPENAI_BASE_URL')
    if gemini is not None:
        base = _base(address, gemini)
        parts.append(f"Gemini CLI (with an API key)\n  export GOOGLE_GEMINI_BASE_URL={base}")
    pi = []
    code = []
    if anthropic is not None:
        pi.append(f'"anthropic": {{"baseUrl": "{_base(address, anthropic)}"}}')
        code.append(f'"anthropic": {{"options": {{"baseURL": "{_v1(_base(address, anthropic), anthropic)}"}}}}')
    if openai is not None:
        v1 = _v1(_base(address, openai), openai)
        pi.append(f'"openai": {{"baseUrl": "{v1}"}}')
        code.append(f'"openai": {{"options": {{"baseURL": "{v1}"}}}}')
    if gemini is not None:
        base = _base(address, gemini)
        pi.append(f'"google": {{"baseUrl": "{base}/v1beta"}}')
        code.append(f'"google": {{"options": {{"baseURL": "{base}/v1beta"}}}}')
    if pi:
        parts.append('Pi, in ~/.pi/agent/models.json\n  {"providers": {' + ",\n                 ".join(pi) + "}}")
    if code:
        parts.append('opencode, in opencode.json\n  {"provider": {' + ",\n                ".join(code) + "}}")
    for upstream in routes.all:
        if upstream.label not in KNOWN:
            parts.append(f"{upstream.label}: every client that takes a base URL\n  {_base(address, upstream)}")
    return "\n\n".join(parts) + "\n"
