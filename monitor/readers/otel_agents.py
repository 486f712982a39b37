"""Telemetry that coding agents write of themselves: Claude Code, Codex, Gemini CLI (for ``readers.otel``)."""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.readers import gateway_values as values
from monitor.readers import usage
from monitor.readers.otel_json import Item
from monitor.readers.overflow import too_long
from monitor.readers.service_tier import joined
from monitor.readers.times import span_ms
from monitor.records import Call, Event, Evidence, Purpose, Record

_MAIN = ("sdk", "main", "repl_main_thread", "repl")


class Agents:
    """Turns events and spans of agents into calls and events; keeps what one event says of later ones."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._keys = {"log": values.Ordinals(), "span": values.Ordinals()}
        self._seen: set[tuple[Any, ...]] = set()
        self._exchanges: dict[str, int] = {}
        self._prompts: dict[tuple[str, str], int] = {}
        self._limits: dict[str, tuple[int | None, int | None]] = {}
        self._summary: dict[str, int | None] = {}

    def take(self, item: Item, line: int | None) -> list[Record] | None:
        """Records of one item; None if it is not an agent's."""
        if item.kind == "metric":
            return None
        name = item.name
        if item.kind == "log":
            if item.scope.startswith("com.anthropic.claude_code") or name.startswith("claude_code."):
                return self._claude_log(item, name.removeprefix("claude_code."), line)
            if name.startswith("codex."):
                return self._codex(item, name[6:], line)
            for prefix in ("gemini_cli.", "qwen-code.", "qwen_code."):
                if name.startswith(prefix):
                    return self._gemini(item, name[len(prefix) :], prefix, line)
        elif name == "claude_code.llm_request":
            return self._claude_span(item, line)
        if item.scope.startswith("com.anthropic.claude_code") or name.startswith("claude_code."):
            return []
        if str(item.resource.get("service.name") or "").startswith("gemini-cli"):
            return []  # its spans and gen_ai events repeat what api_response says
        return None

    # ------------------------------------------------------------------------------------------------ Claude Code
    def _claude_log(self, item: Item, event: str, line: int | None) -> list[Record]:
        session = values.text(item.get("session.id"))
        time = values.time_ms(item.get("event.timestamp")) or item.start
        prompt_id = values.text(item.get("prompt.id")) or ""
        if event == "user_prompt":
            self._count_prompt(session or "", prompt_id, item.get("command_name"))
            return []
        if event not in ("api_request", "api_error", "compaction"):
            return []
        mark = (session, event, str(item.get("event.sequence")), time, str(item.get("output_tokens")), item.trace)
        if mark in self._seen:
            return []
        self._seen.add(mark)
        if event == "compaction":
            return self._claude_compaction(item, session, time, line)
        purpose, chain = _claude_place(item)
        exchange = self._prompts.get((session or "", prompt_id))
        if event == "api_error":
            code = values.text(item.get("status_code", "http.status_code"))
            call = self._call(
                item, line, session, time, usage.UNKNOWN, f"claude-otel:{session}:{time}:error", "claude-code-otel"
            )
            out: list[Record] = [
                msgspec.structs.replace(
                    call,
                    status="error",
                    stop=code,
                    provider="anthropic",
                    purpose=purpose,
                    chain=chain,
                    exchange=exchange,
                )
            ]
            return out + self._overflow(item, call, session)
        tokens = _claude_tokens(item)
        call = self._call(
            item, line, session, time, tokens, self._claude_key(item, session, time, tokens), "claude-code-otel"
        )
        if purpose == "compaction":
            self._summary[session or ""] = tokens.output
        return [
            msgspec.structs.replace(
                call,
                purpose=purpose,
                chain=chain,
                exchange=exchange,
                provider="anthropic",
                cost_usd=_claude_cost(item),
            )
        ]

    def _claude_key(self, item: Item, session: str | None, time: int | None, tokens: usage.Tokens) -> str:
        """The same for a call's log record and its span: both are of one trace and say the same figures."""
        figures = f"{tokens.fresh}:{tokens.read}:{tokens.write}:{tokens.output}"
        if item.trace:
            return self._keys[item.kind].key(f"claude-otel:{item.trace}:{figures}")
        return f"claude-otel:{session}:{time}:{figures}"

    def _claude_compaction(self, item: Item, session: str | None, time: int | None, line: int | None) -> list[Record]:
        if session is None or values.truth(item.get("success")) is False:
            return []
        trigger = values.text(item.get("trigger"))
        return [
            Event(
                kind="compaction",
                evidence="recorded",
                session=session,
                file=self.file,
                line=line,
                trigger="auto" if trigger == "auto" else "manual" if trigger == "manual" else None,
                time=time,
                recorded_before=usage.count(item.get("pre_tokens")),
                recorded_after=usage.count(item.get("post_tokens")),
                summary_tokens=self._summary.pop(session, None),
                key=f"claude-otel-compaction:{session}:{time}",
            )
        ]

    def _claude_span(self, item: Item, line: int | None) -> list[Record]:
        mark = (item.trace, item.span)
        if item.span and mark in self._seen:
            return []
        self._seen.add(mark)
        session = values.text(item.get("session.id"))
        failed = item.failed or values.truth(item.get("success")) is False
        tokens = _claude_tokens(item)
        if failed and not tokens.output:
            tokens = usage.UNKNOWN
        key = (
            f"claude-otel:{item.trace}:{item.span}"
            if tokens.prompt is None
            else self._claude_key(item, session, item.start, tokens)
        )
        call = self._call(item, line, session, item.start, tokens, key, "claude-code-otel")
        purpose, chain = _claude_place(item)
        return [
            msgspec.structs.replace(
                call,
                provider="anthropic",
                purpose=purpose,
                chain=chain,
                status="error" if failed else "ok",
                stop=values.text(item.get("stop_reason")),
                duration_ms=_span_duration(item),
            )
        ]

    def _count_prompt(self, session: str, prompt_id: str, command: Any) -> None:
        if command or (session, prompt_id) in self._prompts:
            return
        self._exchanges[session] = self._exchanges.get(session, 0) + 1
        self._prompts[(session, prompt_id)] = self._exchanges[session]

    # ------------------------------------------------------------------------------------------------ Codex
    def _codex(self, item: Item, event: str, line: int | None) -> list[Record]:
        session = values.text(item.get("conversation.id"))
        name = session or ""
        time = values.time_ms(item.get("event.timestamp")) or item.start
        if event == "conversation_starts":
            self._limits[name] = (
                usage.count(item.get("context_window", "model_context_window")),
                usage.count(item.get("auto_compact_token_limit")),
            )
            return []
        if event == "user_prompt":
            mark = (session, event, str(item.get("event.timestamp")))
            if mark not in self._seen:
                self._seen.add(mark)
                self._exchanges[name] = self._exchanges.get(name, 0) + 1
            return []
        if event == "api_request":
            return self._codex_refused(item, session, time, line)
        done = event in ("sse_event", "websocket_event") and item.get("event.kind") == "response.completed"
        count = usage.count
        prompt = count(item.get("input_token_count"))
        if not done or prompt is None:
            return []
        tokens = usage.inclusive(
            prompt,
            count(item.get("cached_token_count")),
            count(item.get("cache_write_token_count")),
            count(item.get("output_token_count")),
            reasoning=count(item.get("reasoning_token_count")),
            rule="codex-otel",
        )
        # an event may be told in two scopes: same conversation, moment and figures
        key = f"codex-otel:{session}:{item.get('event.timestamp')}:{prompt}:{tokens.read}:{tokens.output}"
        if (key,) in self._seen:
            return []
        self._seen.add((key,))
        window, usable = self._limits.get(name, (None, None))
        call = self._call(item, line, session, time, tokens, key, "codex-otel")
        return [
            msgspec.structs.replace(
                call, provider="openai", exchange=self._exchanges.get(name), context_limit=window, usable_limit=usable
            )
        ]

    def _codex_refused(self, item: Item, session: str | None, time: int | None, line: int | None) -> list[Record]:
        code = usage.count(item.get("http.response.status_code"))
        if code is None or code < 400:
            return []
        key = f"codex-otel:{session}:{item.get('event.timestamp')}:{code}:{item.get('attempt')}"
        if (key,) in self._seen:
            return []
        self._seen.add((key,))
        call = self._call(item, line, session, time, usage.UNKNOWN, key, "codex-otel")
        call = msgspec.structs.replace(
            call, provider="openai", status="error", stop=str(code), exchange=self._exchanges.get(session or "")
        )
        return [call, *self._overflow(item, call, session)]

    # ------------------------------------------------------------------------------------------------ Gemini CLI
    def _gemini(self, item: Item, event: str, prefix: str, line: int | None) -> list[Record]:
        source = "gemini-otel" if prefix == "gemini_cli." else "otel"
        session = values.text(item.get("session.id"))
        stamp = item.get("event.timestamp")
        time = values.time_ms(stamp) or item.start
        if event == "user_prompt":
            self._exchanges[session or ""] = self._exchanges.get(session or "", 0) + 1
            return []
        if event in ("api_response", "api_error"):
            tokens = _gemini_tokens(item) if event == "api_response" else usage.UNKNOWN
            key = f"{source}:{session}:{time}:{event}:{tokens.prompt}:{tokens.output}:{item.get('prompt_id')}"
            if (key,) in self._seen:
                return []
            self._seen.add((key,))
            call = self._call(item, line, session, time, tokens, key, source)
            purpose, chain = _gemini_place(values.text(item.get("role", "llm_role")) or "")
            failed = event == "api_error" or (usage.count(item.get("status_code")) or 0) >= 400
            call = msgspec.structs.replace(
                call,
                provider="google",
                purpose=purpose,
                chain=chain,
                exchange=self._exchanges.get(session or ""),
                status="error" if failed else "ok",
                stop=values.text(item.get("error_type", "status_code")) if failed else None,
            )
            return [call, *(self._overflow(item, call, session) if failed else ())]
        if event == "chat_compression" and session is not None:
            before, after = usage.count(item.get("tokens_before")), usage.count(item.get("tokens_after"))
            return [
                Event(
                    kind="compaction",
                    evidence="recorded",
                    session=session,
                    file=self.file,
                    line=line,
                    time=time,
                    recorded_before=before,
                    recorded_after=after,
                    key=f"{source}-compaction:{session}:{time}",
                )
            ]
        return []

    # ------------------------------------------------------------------------------------------------ common
    def _call(
        self,
        item: Item,
        line: int | None,
        session: str | None,
        time: int | None,
        tokens: usage.Tokens,
        key: str,
        source: str,
    ) -> Call:
        duration = values.number(item.get("duration_ms"))
        return Call(
            session=session or values.placeholder(self.file),
            session_evidence="explicit" if session else "file",
            source=source,
            file=self.file,
            line=line,
            key=key,
            time=time,
            duration_ms=span_ms(duration) or None,
            model=values.text(item.get("model", "gen_ai.response.model", "gen_ai.request.model")),
            prompt_tokens=tokens.prompt,
            fresh_tokens=tokens.fresh,
            cache_read_tokens=tokens.read,
            cache_write_tokens=tokens.write,
            output_tokens=tokens.output,
            reasoning_tokens=tokens.reasoning,
            billed_prompt_tokens=tokens.billed_prompt,
            usage_rule=tokens.rule,
            service_tier=joined(item.get("service_tier"), item.get("speed"), None),
            evidence=None
            if session
            else Evidence(origin=values.origin(source, item.get("user.id"), item.get("service.name"))),
        )

    def _overflow(self, item: Item, call: Call, session: str | None) -> list[Record]:
        if session is None or not too_long(str(item.get("error", "error.message", "error_message") or "")):
            return []
        return [
            Event(
                kind="overflow",
                evidence="recorded",
                session=session,
                file=self.file,
                line=call.line,
                time=call.time,
                key=f"{call.key}#overflow",
                detail=call.stop or "",
            )
        ]


def _span_duration(item: Item) -> int | None:
    return None if item.start is None or item.end is None or item.end < item.start else item.end - item.start


def _claude_tokens(item: Item) -> usage.Tokens:
    fresh, output = usage.count(item.get("input_tokens")), usage.count(item.get("output_tokens"))
    if fresh is None and output is None:
        return usage.UNKNOWN
    read, write = usage.count(item.get("cache_read_tokens")), usage.count(item.get("cache_creation_tokens"))
    if not fresh and not output and not read and not write:
        return usage.UNKNOWN
    # thinking is part of the output and has no figure of its own in this scheme
    return usage.additive(fresh, read, write, output, reasoning=0, rule="claude-otel")


def _claude_cost(item: Item) -> float | None:
    """The client's own cost; some versions state it in millionths only."""
    stated = values.usd(item.get("cost_usd"))
    if stated is None and (micros := values.usd(item.get("cost_usd_micros"))) is not None:
        return micros / 1e6
    return stated


def _claude_place(item: Item) -> tuple[Purpose, str]:
    source = values.text(item.get("query_source")) or ""
    agent = values.text(item.get("agent.id", "agent_id", "agent.name"))
    if source.startswith("compact") or source.endswith("_compact"):
        return "compaction", "side"
    if agent is not None or source.startswith(("agent", "subagent")):
        return "work", f"agent:{agent or source.partition(':')[2] or source}"
    if not source or source.startswith(_MAIN):
        return "work", "main"
    return "side", "side"


def _gemini_tokens(item: Item) -> usage.Tokens:
    count = usage.count
    prompt, output = count(item.get("input_token_count")), count(item.get("output_token_count"))
    if prompt is None or (not prompt and not output):
        return usage.UNKNOWN
    thoughts, tool = count(item.get("thoughts_token_count")), count(item.get("tool_token_count")) or 0
    total = count(item.get("total_token_count"))
    inside = total is not None and total == prompt + (output or 0) + tool and bool(thoughts)
    if output is not None and not inside:
        output += thoughts or 0
    read = count(item.get("cached_content_token_count"))
    # the tools' own prompt stands outside of the prompt; the scheme has no cache writes
    return usage.inclusive(prompt + tool, read, 0, output, write_1h=0, reasoning=thoughts, rule="gemini-otel")


def _gemini_place(role: str) -> tuple[Purpose, str]:
    if "compress" in role:
        return "compaction", "side"
    if role.startswith("utility"):
        return "side", "side"
    return ("work", "agent:subagent") if role.startswith("subagent") else ("work", "main")
