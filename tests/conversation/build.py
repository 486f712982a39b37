"""Small conversations for the tests, written by hand in the shape each client writes."""

from __future__ import annotations

import json
from typing import Any

SYSTEM = "You are careful."


def chat() -> list[dict[str, Any]]:
    """Two exchanges; the first with two parallel calls answered in the other order, then a single call."""
    return [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Run the tests."},
        {"role": "assistant", "content": None, "tool_calls": [tool("c1", "ls"), tool("c2", "pytest")]},
        {"role": "tool", "tool_call_id": "c2", "content": "1 failed"},
        {"role": "tool", "tool_call_id": "c1", "content": "src"},
        {"role": "assistant", "content": "One fails.", "tool_calls": [tool("c3", "edit")]},
        {"role": "tool", "tool_call_id": "c3", "content": "ok"},
        {"role": "assistant", "content": "Fixed."},
        {"role": "user", "content": "Now the docs."},
        {"role": "assistant", "content": "Done."},
    ]


def tool(cid: str, name: str, arguments: Any = "{}") -> dict[str, Any]:
    """A call of the Chat API."""
    return {"id": cid, "type": "function", "function": {"name": name, "arguments": arguments}}


def anthropic() -> dict[str, Any]:
    """A request body: thinking with two calls, results in one message, a second exchange."""
    return {
        "model": "claude-opus-4-7",
        "max_tokens": 1000,
        "system": SYSTEM,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "tools": [{"name": "run", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "Run the tests."},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Both.", "signature": "sig"},
                    {"type": "tool_use", "id": "t1", "name": "run", "input": {"cmd": "ls"}},
                    {"type": "tool_use", "id": "t2", "name": "run", "input": {"cmd": "pytest"}},
                ],
            },
            {"role": "user", "content": [result("t1", "src"), result("t2", "1 failed")]},
            {"role": "assistant", "content": [{"type": "text", "text": "One fails."}]},
            {"role": "user", "content": "Fix it."},
        ],
    }


def result(cid: str, text: str) -> dict[str, Any]:
    """A result block of the Messages API."""
    return {"type": "tool_result", "tool_use_id": cid, "content": text}


def responses() -> dict[str, Any]:
    """Items with reasoning, two parallel calls, an opaque compaction item."""
    return {
        "model": "gpt-5.2-codex",
        "instructions": SYSTEM,
        "store": False,
        "input": [
            said("user", "Run the tests."),
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
            {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "run", "arguments": "{}"},
            {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "apply_patch", "input": "*** patch"},
            {"type": "function_call_output", "call_id": "c1", "output": "1 failed"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
            said("assistant", "Fixed."),
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "gBBB"},
            said("user", "Now the docs."),
        ],
    }


def said(role: str, text: str) -> dict[str, Any]:
    """A message item of the Responses API."""
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def gemini() -> dict[str, Any]:
    """Contents with two calls without ids and their answers."""
    return {
        "model": "gemini-3-pro",
        "systemInstruction": {"parts": [{"text": SYSTEM}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Run the tests."}]},
            {
                "role": "model",
                "parts": [
                    {"functionCall": {"name": "run", "args": {"cmd": "ls"}}, "thoughtSignature": "s1"},
                    {"functionCall": {"name": "run", "args": {"cmd": "pytest"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "run", "response": {"output": "src"}}},
                    {"functionResponse": {"name": "run", "response": {"output": "1 failed"}}},
                ],
            },
            {"role": "model", "parts": [{"text": "One fails."}]},
            {"role": "user", "parts": [{"text": "Fix it."}]},
        ],
    }


def claude_code() -> list[dict[str, Any]]:
    """A session: one answer over three lines, results on branches, a second exchange."""
    return [
        {"type": "mode", "mode": "default", "sessionId": "s1"},
        cc("u1", None, "user", "Run the tests."),
        cc("u2", "u1", "assistant", [{"type": "thinking", "thinking": "Both.", "signature": "x"}], "m1"),
        cc("u3", "u2", "assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}], "m1"),
        cc("u4", "u3", "assistant", [{"type": "tool_use", "id": "t2", "name": "Read", "input": {}}], "m1"),
        cc("u5", "u3", "user", [result("t1", "1 failed")]),
        cc("u6", "u4", "user", [result("t2", "x")]),
        cc("u7", "u6", "assistant", [{"type": "text", "text": "One fails."}], "m2"),
        cc("u8", "u7", "user", "Fix it."),
        cc("u9", "u8", "assistant", [{"type": "text", "text": "Done."}], "m3"),
    ]


def cc(uuid: str, parent: str | None, role: str, content: Any, mid: str = "", **more: Any) -> dict[str, Any]:
    """A line of a Claude Code session."""
    message: dict[str, Any] = {"role": role, "content": content}
    if mid:
        message |= {"id": mid, "model": "claude-opus-4-7", "usage": {"input_tokens": 3, "output_tokens": 9}}
    number = int("".join(c for c in uuid if c.isdigit()) or 0)
    return {
        "parentUuid": parent,
        "isSidechain": False,
        "sessionId": "s1",
        "cwd": "/w",
        "version": "2.1.1",
        "type": role,
        "message": message,
        "uuid": uuid,
        "timestamp": f"2026-10-01T10:00:{number:02d}.000Z",
        **more,
    }


def codex() -> list[dict[str, Any]]:
    """A rollout: header, developer message, a call with output and token count, a second exchange."""
    return [
        line("session_meta", {"id": "s1", "cwd": "/w", "base_instructions": {"text": "You are Codex."}}),
        item(said("developer", "<permissions instructions>x")),
        item(said("user", "<environment_context>x</environment_context>")),
        item(said("user", "Run the tests.")),
        item({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}),
        item({"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{}"}),
        line("event_msg", {"type": "token_count", "info": {"total_token_usage": {"total_tokens": 9}}}),
        item({"type": "function_call_output", "call_id": "c1", "output": "1 failed"}),
        item(said("assistant", "One fails.")),
        item(said("user", "Fix it.")),
    ]


def line(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    """A line of a Codex rollout."""
    return {"timestamp": "2026-10-01T10:00:00.000Z", "type": kind, "payload": payload}


def item(payload: dict[str, Any]) -> dict[str, Any]:
    """A response item of a Codex rollout."""
    return line("response_item", payload)


def pi() -> list[dict[str, Any]]:
    """A v3 session: settings, a call with result, a second exchange."""
    return [
        {"type": "session", "version": 3, "id": "s1", "timestamp": stamp(0), "cwd": "/w"},
        {"type": "model_change", "id": "m0", "parentId": None, "timestamp": stamp(1), "modelId": "loop-1"},
        entry("a1", "m0", {"role": "user", "content": [{"type": "text", "text": "Run the tests."}]}),
        entry("a2", "a1", {"role": "assistant", "content": [call("t1"), call("t2")], "usage": {"input": 5}}),
        entry("a3", "a2", answer("t1", "1 failed")),
        entry("a4", "a3", answer("t2", "x")),
        entry("a5", "a4", {"role": "assistant", "content": [{"type": "text", "text": "One fails."}]}),
        entry("a6", "a5", {"role": "user", "content": [{"type": "text", "text": "Fix it."}]}),
        entry("a7", "a6", {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}),
    ]


def entry(eid: str, parent: str | None, message: dict[str, Any]) -> dict[str, Any]:
    """A message entry of a Pi session."""
    return {
        "type": "message",
        "id": eid,
        "parentId": parent,
        "timestamp": stamp(10 + int(eid[1:])),
        "message": message,
    }


def call(cid: str) -> dict[str, Any]:
    """A tool call block of Pi."""
    return {"type": "toolCall", "id": cid, "name": "bash", "arguments": {"command": "ls"}}


def answer(cid: str, text: str) -> dict[str, Any]:
    """A tool result message of Pi."""
    return {
        "role": "toolResult",
        "toolCallId": cid,
        "toolName": "bash",
        "content": [{"type": "text", "text": text}],
        "isError": False,
    }


def stamp(second: int) -> str:
    """A time on one minute."""
    return f"2026-10-01T10:00:{second:02d}.000Z"


def opencode() -> dict[str, Any]:
    """An export: a tool part that holds call and result, a second exchange."""
    return {
        "info": {"id": "ses_1", "title": "Tests"},
        "messages": [
            oc("msg_1", "user", [{"type": "text", "text": "Run the tests."}]),
            oc(
                "msg_2",
                "assistant",
                [
                    {"type": "step-start"},
                    {"type": "tool", "callID": "c1", "tool": "bash", "state": state("completed", output="1 failed")},
                    {"type": "step-finish", "tokens": {"input": 7}},
                ],
            ),
            oc("msg_3", "assistant", [{"type": "text", "text": "One fails."}]),
            oc("msg_4", "user", [{"type": "text", "text": "Fix it."}]),
        ],
    }


def state(status: str, **more: Any) -> dict[str, Any]:
    """State of an opencode tool part."""
    return {"status": status, "input": {"command": "pytest"}, **more}


def oc(mid: str, role: str, parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """A message of an opencode export."""
    info: dict[str, Any] = {"id": mid, "sessionID": "ses_1", "role": role, **more}
    if role == "assistant":
        info |= {"modelID": "loop-1", "providerID": "loop", "cost": 0.5, "tokens": {"input": 7}}
    return {"info": info, "parts": [{"id": f"prt_{mid}_{k}", **p} for k, p in enumerate(parts)]}


def chatgpt() -> list[dict[str, Any]]:
    """A data export with one conversation, a regenerated answer beside the path, a tool call."""
    nodes = {
        "root": {"id": "root", "message": None, "parent": None, "children": ["n1"]},
        "n1": node("n1", "root", "user", "Plot it."),
        "n2": node("n2", "n1", "assistant", "old answer"),
        "n3": node("n3", "n1", "assistant", "print(1)", recipient="python"),
        "n4": node("n4", "n3", "tool", "1", name="python"),
        "n5": node("n5", "n4", "assistant", "Here."),
    }
    return [
        {"title": "t", "conversation_id": "conv1", "update_time": 2.0, "mapping": nodes, "current_node": "n5"},
    ]


def node(
    nid: str, parent: str, role: str, text: str, recipient: str = "all", name: str | None = None
) -> dict[str, Any]:
    """A node of a ChatGPT export."""
    content: dict[str, Any] = {"content_type": "text", "parts": [text]}
    if recipient != "all":
        content = {"content_type": "code", "language": "python", "text": text}
    author = {"role": role, "name": name, "metadata": {}}
    message = {"id": nid, "author": author, "create_time": 1.0, "content": content, "recipient": recipient}
    return {"id": nid, "message": message, "parent": parent, "children": []}


def claude_export() -> list[dict[str, Any]]:
    """A Claude.ai export with one conversation; call and result in one message, without ids."""
    return [
        {
            "uuid": "conv1",
            "name": "t",
            "updated_at": "2026-10-01T10:00:00Z",
            "chat_messages": [
                {"uuid": "m1", "sender": "human", "text": "Hi", "content": [{"type": "text", "text": "Hi"}]},
                {
                    "uuid": "m2",
                    "sender": "assistant",
                    "text": "Hello",
                    "content": [
                        {"type": "tool_use", "name": "repl", "input": {"code": "1"}},
                        {"type": "tool_result", "name": "repl", "content": [{"type": "text", "text": "1"}]},
                        {"type": "text", "text": "Hello"},
                    ],
                },
            ],
        }
    ]


def hermes() -> list[dict[str, Any]]:
    """Rows of one session; one of them no longer active."""
    rows: list[dict[str, Any]] = [
        {"role": "user", "content": "old", "active": 0},
        {"role": "user", "content": "Run the tests."},
        {"role": "assistant", "content": "", "tool_calls": json.dumps([tool("c1", "terminal")])},
        {"role": "tool", "content": "1 failed", "tool_call_id": "c1", "tool_name": "terminal"},
        {"role": "assistant", "content": "One fails.", "tool_calls": None},
        {"role": "user", "content": "Fix it."},
    ]
    base = {"session_id": "s1", "timestamp": 1.5, "active": 1, "tool_calls": None, "tool_call_id": None}
    return [{"id": i + 1, **base, **row} for i, row in enumerate(rows)]


def jsonl(records: list[dict[str, Any]]) -> bytes:
    """Records as lines."""
    return b"".join(json.dumps(r, ensure_ascii=False).encode() + b"\n" for r in records)


def doc(value: Any, **style: Any) -> bytes:
    """A JSON document."""
    return json.dumps(value, ensure_ascii=False, **style).encode()


#: name of the format -> bytes of a valid file with two exchanges of its kind
FILES: dict[str, bytes] = {
    "openai-chat": doc(chat()),
    "anthropic": doc(anthropic()),
    "responses": doc(responses()),
    "gemini": doc(gemini()),
    "claude-code": jsonl(claude_code()),
    "codex": jsonl(codex()),
    "pi": jsonl(pi()),
    "opencode": doc(opencode()),
    "chatgpt-export": doc(chatgpt()),
    "claude-export": doc(claude_export()),
    "hermes": doc(hermes()),
}
