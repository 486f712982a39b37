"""Shapes of Claude Code's lines for the typed decoder, and what their texts mean. See :mod:`.claude_code`."""

import re
from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

from monitor.readers import usage
from monitor.readers.lines import later, readable
from monitor.readers.overflow import too_long
from monitor.readers.patterns import Lazy


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BOOKKEEPING = _names(
    """
    summary file-history-snapshot queue-operation permission-mode mode last-prompt ai-title custom-title
    agent-name pr-link worktree-state bridge-session api-request api-request-shape api-request-blob
    cost-state tools-used atis-latch
    """
)


class Split(Struct, gc=False):
    ephemeral_5m_input_tokens: usage.Figure | None = None
    ephemeral_1h_input_tokens: usage.Figure | None = None


class Details(Struct, gc=False):
    thinking_tokens: usage.Figure | None = None


class Usage(Struct, gc=False):
    input_tokens: usage.Figure | None = None
    cache_creation_input_tokens: usage.Figure | None = None
    cache_read_input_tokens: usage.Figure | None = None
    output_tokens: usage.Figure | None = None
    cache_creation: Split | None = None
    output_tokens_details: Details | None = None
    iterations: Raw = Raw()
    service_tier: Any = None
    speed: Any = None
    inference_geo: Any = None


class Block(Struct, gc=False):
    type: str = ""
    id: str | None = None
    name: str | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None
    input: Raw = Raw()
    content: Raw = Raw()
    text: Raw = Raw()


class Message(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    content: Raw = Raw()  # text or blocks, see blocks(); most of it is never looked at
    stop_reason: str | None = None
    usage: Usage | None = None


class Compact(Struct, gc=False):
    trigger: str | None = None
    preTokens: int | float | str | None = None
    postTokens: int | float | str | None = None
    pre_tokens: int | float | str | None = None  # in what is printed
    post_tokens: int | float | str | None = None


class Inner(Struct, gc=False):
    type: str | None = None
    timestamp: str | None = None
    requestId: str | None = None
    message: Message | None = None


class Data(Struct, gc=False):
    type: str | None = None
    agentId: str | None = None
    message: Inner | None = None


class Line(Struct, gc=False):
    """One line. The fields stand in the order in which clients write them: a key is looked for behind the last one."""

    parentUuid: str | None = None
    isSidechain: bool | None = None
    agentId: str | None = None
    cwd: str | None = None
    sessionId: str | None = None
    type: str | None = ""
    message: Message | None = None
    requestId: str | None = None
    requestRef: str | None = None
    uuid: str | None = None
    timestamp: str | None = None
    subtype: str | None = None
    id: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    turnOrigin: str | None = None
    costUSD: float | None = None
    data: Data | None = None
    compactMetadata: Compact | None = None
    microcompactMetadata: Compact | None = None
    error: Raw = Raw()
    attachment: Raw = Raw()
    # as `--output-format stream-json` prints the same lines
    session_id: str | None = None
    request_id: str | None = None
    parent_tool_use_id: str | None = None
    compact_metadata: Compact | None = None

    def printed(self) -> None:
        """Bring a line that was printed into the form of transcripts: a subagent is known by the call that began it."""
        if self.sessionId is None:
            self.sessionId = self.session_id
        self.requestId = self.requestId or self.request_id
        if self.parent_tool_use_id:
            self.isSidechain, self.agentId = True, self.agentId or self.parent_tool_use_id


class ResultMessage(Struct, gc=False):
    content: list[Block]


class ResultLine(Struct, gc=False):
    """A line that is known to hold results of tools."""

    message: ResultMessage
    sessionId: str | None = None
    timestamp: str | None = None


decode = msgspec.json.Decoder(Line).decode
decode_result = msgspec.json.Decoder(ResultLine).decode
_content: Callable[[Any], str | list[Block] | None] = msgspec.json.Decoder(str | list[Block] | None).decode
_encode = msgspec.json.Encoder().encode
_NUMBERS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_TEXTS = [
    "type",
    "subtype",
    "uuid",
    "parentUuid",
    "sessionId",
    "requestId",
    "requestRef",
    "id",
    "timestamp",
    "cwd",
    "agentId",
    "turnOrigin",
    "session_id",
    "request_id",
    "parent_tool_use_id",
]


def lenient(value: dict[str, Any]) -> bytes:
    """A line the typed decoder refused, with every field it looks at brought to the expected type or left out."""
    line: dict[str, Any] = {name: value[name] for name in _TEXTS if isinstance(value.get(name), str)}
    for name in ("isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage"):
        if isinstance(value.get(name), bool):
            line[name] = value[name]
    if isinstance(spent := value.get("costUSD"), int | float) and not isinstance(spent, bool):
        line["costUSD"] = spent
    for name in ("compactMetadata", "microcompactMetadata", "compact_metadata"):
        if isinstance(facts := value.get(name), dict):
            sizes = ("preTokens", "postTokens", "pre_tokens", "post_tokens")
            line[name] = {"trigger": facts.get("trigger") if isinstance(facts.get("trigger"), str) else None}
            line[name] |= {size: usage.count(facts.get(size)) for size in sizes}
    if isinstance(value.get("message"), dict):
        line["message"] = _message(value["message"])
    data = value.get("data")
    if isinstance(data, dict) and isinstance(inner := data.get("message"), dict):
        line["data"] = {name: data[name] for name in ("type", "agentId") if isinstance(data.get(name), str)}
        line["data"]["message"] = {
            name: inner[name] for name in ("type", "timestamp", "requestId") if isinstance(inner.get(name), str)
        }
        if isinstance(inner.get("message"), dict):
            line["data"]["message"]["message"] = _message(inner["message"])
    for name in ("error", "attachment"):
        if name in value:
            line[name] = value[name]
    return clean(line)


def clean(value: Any) -> bytes:
    """JSON bytes of a value that may hold lone surrogates or NaN."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, ValueError, RecursionError):
        return _encode(_scrub(value, 0))


def _scrub(value: Any, depth: int) -> Any:
    if depth > 60:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_scrub(str(key), depth): _scrub(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_scrub(item, depth + 1) for item in value]
    return value


_WAYS = ("service_tier", "speed", "inference_geo")


def _message(value: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {
        name: value[name] for name in ("id", "model", "stop_reason") if isinstance(value.get(name), str)
    }
    found = value.get("usage")
    if isinstance(found, dict):
        numbers: dict[str, Any] = {name: usage.count(found.get(name)) for name in _NUMBERS}
        split = found.get("cache_creation")
        if isinstance(split, dict):
            names = ("ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens")
            numbers["cache_creation"] = {name: usage.count(split.get(name)) for name in names}
        details = found.get("output_tokens_details")
        if isinstance(details, dict):
            numbers["output_tokens_details"] = {"thinking_tokens": usage.count(details.get("thinking_tokens"))}
        if isinstance(found.get("iterations"), list):
            numbers["iterations"] = found["iterations"]
        numbers.update((name, found[name]) for name in _WAYS if isinstance(found.get(name), str))
        out["usage"] = numbers
    if (content := _plain_content(value.get("content"))) is not None:
        out["content"] = content
    return out


def _plain_content(content: Any) -> str | list[dict[str, Any]] | None:
    if isinstance(content, list):
        return [_block(block) for block in content if isinstance(block, dict)]
    return content if isinstance(content, str) else None


def _block(value: dict[str, Any]) -> dict[str, Any]:
    out = {name: value[name] for name in ("id", "name", "tool_use_id") if isinstance(value.get(name), str)}
    out["type"] = str(value.get("type") or "")
    if isinstance(value.get("is_error"), bool):
        out["is_error"] = value["is_error"]
    for name in ("input", "content", "text"):
        if name in value:
            out[name] = value[name]
    return out


def content_of(message: Message) -> str | list[Block] | None:
    """What a message says: its text, its blocks, or None. Odd content is read as far as it can be."""
    raw = message.content
    if not raw:
        return None
    try:
        return _content(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    found = readable(bytes(raw))
    return _content(clean(_plain_content(found[0]))) if found else None


_RESULT = b'"type":"tool_result"'


def is_result(message: Message) -> bool:
    """Whether a user's message begins with the result of a tool; told by its first bytes, as most do."""
    head = memoryview(message.content)[:192].tobytes()
    place = head.find(_RESULT)
    return place > 0 and head.startswith(b"[{") and head.find(b"}", 0, place) < 0


# ---------------------------------------------------------------------------------------------------------------------
def trigger(word: str | None) -> Literal["auto", "manual", "idle"] | None:
    """The trigger of a compaction in the contract's words."""
    if word in ("auto", "manual", "idle"):
        return word  # type: ignore[return-value]
    return None


def text_of(content: str | list[Block] | None) -> str | None:
    """Text of a user message; None if it has none (images count as text of no length)."""
    if isinstance(content, str):
        return content
    if not content:
        return None
    parts: list[str] = []
    for block in content:
        if block.type == "text":
            value = later(block.text) if block.text else ""
            if isinstance(value, str):
                parts.append(value)
        elif block.type == "image":
            parts.append("")
    return "\n".join(parts) if parts else None


#: rows of type user that the client writes by itself
_CLIENT_TEXT = Lazy(
    r"\s*(<(local-command-|command-name>|command-message>|bash-(input|stdout|stderr)>|task-notification>|system-reminder>"
    r"|user-memory-input>|ide_)|\[Request interrupted|Caveat: The messages below)"
)
_COMMAND = Lazy(r"<command-name>\s*/?([\w:.-]+)")
#: commands of the client itself; others are prompts the user wrote as a command
_BUILT_IN = _names(
    """
    add-dir agents bug clear compact config context cost doctor exit export fast help hooks ide login
    logout mcp memory model output-style permissions plugin quit reload-plugins rename resume rewind
    sandbox status statusline tasks terminal-setup theme upgrade usage vim new
    """
)


#: what editors and the client put in front of what a person typed
_CONTEXT = Lazy(r"(?:\s*<(ide_\w+|system-reminder)>.*?</\1>)+\s*", re.DOTALL)


def without_context(text: str) -> str:
    """A message without what was put in front of it; the whole of it if it is nothing else."""
    if text.lstrip()[:5] not in ("<ide_", "<syst"):
        return text
    found = _CONTEXT.match(text)
    return text[found.end() :] or text if found is not None else text


def queued(line: Line) -> str | None:
    """What a person typed while the agent was at work, which is handed on beside the results of tools."""
    if b'"queued_command"' not in memoryview(line.attachment)[:64].tobytes():
        return None
    value = later(line.attachment)
    if not isinstance(value, dict) or value.get("commandMode") not in (None, "prompt"):
        return None
    prompt = value.get("prompt")
    if isinstance(prompt, list):
        prompt = "\n".join(str(part.get("text") or "") for part in prompt if isinstance(part, dict))
    return prompt if isinstance(prompt, str) and typed_by_user(prompt) else None


def typed_by_user(text: str) -> bool:
    """Whether the user typed this prompt (a command that stands for a prompt counts)."""
    if text.lstrip()[:1] not in ("<", "[", "C") or _CLIENT_TEXT.match(text) is None:
        return True
    name = command(text)
    return name is not None and name not in _BUILT_IN


def command(text: str) -> str | None:
    """Name of a slash command row, without the slash."""
    found = _COMMAND.search(text[:400])
    return found.group(1) if found else None


def made_by_client(line: Line) -> bool:
    """Rows that say themselves that no person wrote them."""
    return line.turnOrigin in ("task_notification", "system", "scheduled")


def overflow(line: Line) -> bool:
    """Whether an error row says that the prompt did not fit."""
    said = text_of(content_of(line.message)) if line.message is not None else None
    return too_long(bytes(line.error).decode("utf-8", "replace"), said)


def error_word(line: Line) -> str:
    """A short machine word for an error row (class or HTTP status), never its text."""
    value = later(line.error) if line.error else None
    if isinstance(value, dict):
        for name in ("status", "type", "code"):
            if isinstance(value.get(name), (str, int)) and not isinstance(value.get(name), bool):
                return str(value[name])[:40]
    if isinstance(value, str) and re.fullmatch(r"[\w.-]{1,40}", value):
        return value
    text = text_of(content_of(line.message)) if line.message is not None else None
    if text and "prompt is too long" in text.lower():
        return "prompt_too_long"
    found = re.search(r"API Error:?\s*(\d{3})", text or "")
    return found.group(1) if found else "error"
