"""A story written as a file of each format, as the clients write it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.compaction.stories import Step, Story

TIME = "2026-11-{day:02d}T08:{minute:02d}:{second:02d}.000Z"


def _dumps(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return ("\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n").encode()


def _chat(story: Story) -> bytes:
    out: list[dict[str, Any]] = [{"role": "system", "content": story.system}]
    n = 0
    for s in story.steps:
        if s.user or s.summary:
            out.append({"role": "user", "content": s.user or s.summary})
            continue
        message: dict[str, Any] = {"role": "assistant", "content": s.text or None}
        ids = []
        if s.calls:
            message["tool_calls"] = []
            for c in s.calls:
                n += 1
                ids.append(f"call_{n:04d}")
                message["tool_calls"].append(
                    {
                        "id": ids[-1],
                        "type": "function",
                        "function": {"name": c.name, "arguments": json.dumps(c.args, ensure_ascii=False)},
                    }
                )
        out.append(message)
        out += [
            {"role": "tool", "tool_call_id": i, "content": c.result}
            for i, c in zip(ids, s.calls)
            if c.result is not None
        ]
    return _dumps({"model": "m-1", "messages": out})


def _anthropic_messages(story: Story) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    n = 0
    for s in story.steps:
        if s.user or s.summary:
            out.append({"role": "user", "content": [{"type": "text", "text": s.user or s.summary}]})
            continue
        blocks: list[dict[str, Any]] = []
        if s.thinking:
            blocks.append({"type": "thinking", "thinking": s.thinking, "signature": "c2ln"})
        if s.text:
            blocks.append({"type": "text", "text": s.text})
        results = []
        for c in s.calls:
            n += 1
            blocks.append({"type": "tool_use", "id": f"toolu_{n:04d}", "name": c.name, "input": c.args})
            if c.result is not None:
                result = {"type": "tool_result", "tool_use_id": f"toolu_{n:04d}", "content": c.result}
                results.append(result | ({"is_error": True} if c.error else {}))
        out.append({"role": "assistant", "content": blocks})
        if results:
            out.append({"role": "user", "content": results})
    return out


def _anthropic(story: Story) -> bytes:
    return _dumps(
        {
            "model": "m-2",
            "system": story.system,
            "max_tokens": 4096,
            "tools": [{"name": "x", "input_schema": {"type": "object"}}],
            "messages": _anthropic_messages(story),
        }
    )


def _items(story: Story) -> list[dict[str, Any]]:
    out: list[dict[str, Any]] = []
    n = 0
    for s in story.steps:
        if s.user or s.summary:
            out.append(
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": s.user or s.summary}]}
            )
            continue
        if s.thinking:
            n += 1
            out.append(
                {
                    "type": "reasoning",
                    "id": f"rs_{n}",
                    "summary": [{"type": "summary_text", "text": s.thinking}],
                    "encrypted_content": "gAAA" + "x" * 40,
                }
            )
        if s.text or not s.calls:
            out.append(
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": s.text or "…"}]}
            )
        made = []
        for c in s.calls:
            n += 1
            made.append((f"call_{n}", c))
            out.append(
                {
                    "type": "function_call",
                    "call_id": f"call_{n}",
                    "name": c.name,
                    "arguments": json.dumps(c.args, ensure_ascii=False),
                }
            )
        out += [
            {"type": "function_call_output", "call_id": i, "output": c.result} for i, c in made if c.result is not None
        ]
    return out


def _responses(story: Story) -> bytes:
    return _dumps({"model": "m-3", "instructions": story.system, "store": False, "input": _items(story)})


def _gemini(story: Story) -> bytes:
    out: list[dict[str, Any]] = []
    for s in story.steps:
        if s.user or s.summary:
            out.append({"role": "user", "parts": [{"text": s.user or s.summary}]})
            continue
        parts: list[dict[str, Any]] = [{"text": s.text}] if s.text else []
        for at, c in enumerate(s.calls):
            parts.append(
                {"functionCall": {"name": c.name, "args": c.args}} | ({"thoughtSignature": "c2ln"} if at == 0 else {})
            )
        out.append({"role": "model", "parts": parts or [{"text": "…"}]})
        answers = [
            {"functionResponse": {"name": c.name, "response": {"error" if c.error else "output": c.result}}}
            for c in s.calls
            if c.result is not None
        ]
        if answers:
            out.append({"role": "user", "parts": answers})
    return _dumps({"model": "gemini-3-pro", "systemInstruction": {"parts": [{"text": story.system}]}, "contents": out})


def _stamp(n: int) -> str:
    return TIME.format(day=1 + n // 3600, minute=n // 60 % 60, second=n % 60)


def _claude(story: Story) -> bytes:
    rows: list[dict[str, Any]] = []
    base = {
        "isSidechain": False,
        "userType": "external",
        "cwd": story.cwd,
        "sessionId": "5e55a000-0000-4000-8000-000000000001",
        "version": "2.1.300",
        "gitBranch": "main",
    }
    parent: str | None = None
    mid = 0

    def put(kind: str, message: dict[str, Any], **extra: Any) -> None:
        nonlocal parent
        uid = f"00000000-0000-4000-8000-{len(rows):012d}"
        rows.append(
            {
                "parentUuid": parent,
                **base,
                "type": kind,
                "message": message,
                "uuid": uid,
                "timestamp": _stamp(len(rows)),
                **extra,
            }
        )
        parent = uid

    for s in story.steps:
        if s.summary:
            uid = f"00000000-0000-4000-8000-{len(rows):012d}"
            rows.append(
                {
                    "parentUuid": None,
                    "logicalParentUuid": parent,
                    **base,
                    "type": "system",
                    "subtype": "compact_boundary",
                    "content": "Conversation compacted",
                    "uuid": uid,
                    "timestamp": _stamp(len(rows)),
                    "compactMetadata": {"trigger": "auto", "preTokens": 150000},
                }
            )
            parent = uid
            put("user", {"role": "user", "content": s.summary}, isCompactSummary=True, isVisibleInTranscriptOnly=True)
            continue
        if s.user:
            put("user", {"role": "user", "content": s.user})
            continue
        mid += 1
        results = []
        blocks: list[dict[str, Any]] = [{"type": "text", "text": s.text}] if s.text else []
        for c in s.calls:
            i = f"toolu_{len(rows):04d}_{len(blocks)}"
            blocks.append({"type": "tool_use", "id": i, "name": c.name, "input": c.args})
            if c.result is not None:
                results.append(
                    {"type": "tool_result", "tool_use_id": i, "content": c.result}
                    | ({"is_error": True} if c.error else {})
                )
        for b in blocks:
            put(
                "assistant",
                {
                    "id": f"msg_{mid:04d}",
                    "type": "message",
                    "role": "assistant",
                    "model": "m-4",
                    "content": [b],
                    "usage": {"input_tokens": 10, "output_tokens": 5},
                },
            )
        for r in results:
            put("user", {"role": "user", "content": [r]})
    return _lines(rows)


def _codex(story: Story) -> bytes:
    rows: list[dict[str, Any]] = [
        {
            "timestamp": _stamp(0),
            "type": "session_meta",
            "payload": {
                "id": "0199a000-0000-7000-8000-000000000001",
                "timestamp": _stamp(0),
                "cwd": story.cwd,
                "originator": "codex_cli_rs",
                "cli_version": "0.171.0",
                "base_instructions": {"text": story.system},
            },
        }
    ]
    rows.append(
        {
            "timestamp": _stamp(1),
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [
                    {
                        "type": "input_text",
                        "text": f"<environment_context>\n<cwd>{story.cwd}</cwd>\n</environment_context>",
                    }
                ],
            },
        }
    )
    users: list[dict[str, Any]] = []
    before: list[Step] = []
    for s in story.steps:
        before.append(s)
        if s.summary:
            history = [
                *users,
                {
                    "type": "message",
                    "role": "user",
                    "content": [
                        {
                            "type": "input_text",
                            "text": "Another language model started to solve this problem and produced a summary of its thinking "
                            "process.\n" + s.summary,
                        }
                    ],
                },
            ]
            rows.append(
                {
                    "timestamp": _stamp(len(rows)),
                    "type": "compacted",
                    "payload": {"message": s.summary, "replacement_history": history},
                }
            )
            continue
        items = _items(Story(story.name, "", [s], {}))
        for item in items:
            if "call_id" in item:
                item["call_id"] += f"_{len(before)}"
            if item["type"] == "reasoning":
                item["id"] += f"_{len(before)}"
            if item.get("role") == "user":
                users.append(item)
            rows.append({"timestamp": _stamp(len(rows)), "type": "response_item", "payload": item})
        if s.user:
            rows.append(
                {
                    "timestamp": _stamp(len(rows)),
                    "type": "event_msg",
                    "payload": {"type": "user_message", "message": s.user},
                }
            )
    return _lines(rows)


def _pi(story: Story) -> bytes:
    rows: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "pi-1", "timestamp": _stamp(0), "cwd": story.cwd}
    ]
    parent: str | None = None
    ids: list[str] = []

    def put(row: dict[str, Any]) -> None:
        nonlocal parent
        i = f"{len(rows):08x}"
        rows.append({**row, "id": i, "parentId": parent, "timestamp": _stamp(len(rows))})
        ids.append(i)
        parent = i

    put({"type": "model_change", "provider": "p", "modelId": "m-5"})
    n = 0
    first_user = ""
    for s in story.steps:
        if s.summary:
            put({"type": "compaction", "summary": s.summary, "firstKeptEntryId": first_user, "tokensBefore": 100000})
        elif s.user:
            put(
                {
                    "type": "message",
                    "message": {"role": "user", "content": [{"type": "text", "text": s.user}], "timestamp": 1},
                }
            )
            first_user = ids[-1]
        else:
            content: list[dict[str, Any]] = [{"type": "text", "text": s.text}] if s.text else []
            made = []
            for c in s.calls:
                n += 1
                made.append((f"c{n}", c))
                content.append({"type": "toolCall", "id": f"c{n}", "name": c.name, "arguments": c.args})
            put(
                {
                    "type": "message",
                    "message": {
                        "role": "assistant",
                        "content": content or [{"type": "text", "text": "…"}],
                        "model": "m-5",
                        "usage": {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0},
                        "stopReason": "toolUse" if made else "stop",
                    },
                }
            )
            for i, c in made:
                if c.result is not None:
                    put(
                        {
                            "type": "message",
                            "message": {
                                "role": "toolResult",
                                "toolCallId": i,
                                "toolName": c.name,
                                "content": [{"type": "text", "text": c.result}],
                                "isError": c.error,
                            },
                        }
                    )
    return _lines(rows)


WRITERS: dict[str, Callable[[Story], bytes]] = {
    "openai-chat": _chat,
    "anthropic": _anthropic,
    "responses": _responses,
    "gemini": _gemini,
    "claude-code": _claude,
    "codex": _codex,
    "pi": _pi,
}
