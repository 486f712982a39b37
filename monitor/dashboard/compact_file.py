"""The compactor of the dashboard: :mod:`monitor.compaction` on the file of a session, or on any file by its path.

Summaries are made offline here, whatever the settings say: looking at a preview must not cost money or send a
conversation anywhere. Other settings of the ``compact`` section hold. What was shown is what is written, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from monitor.dashboard.aside import aside
from monitor.dashboard.compactor import Change, Preview, Retention, Sign
from monitor.sessions.view import SessionView

if TYPE_CHECKING:
    from monitor.compaction.engine import Outcome
    from monitor.compaction.options import Options
    from monitor.compaction.verify import Proof
    from monitor.conversation.model import Conversation, Message

#: of a message so many characters are looked at for its first words
_LOOK = 800
_PACKED = (".gz", ".zst")
#: how loading tells that a file is no conversation
_NO_MESSAGES = ("is no conversation", "is neither JSON", "holds no request body")


class FileCompactor:
    """See :class:`~monitor.dashboard.compactor.Compactor`.

    Args:
        config: a settings file, None for the user's own.
        child: make previews in a process of their own.
    """

    def __init__(self, config: Path | None = None, *, child: bool = True) -> None:
        self._config = config
        self._child = child

    def preview(self, view: SessionView) -> Preview:
        """What compacting the file of this session would give. Raises ValueError where the file cannot be compacted."""
        return msgspec.structs.replace(self._make(session_file(view), True), prompt_tokens=view.last_prompt_tokens)

    def preview_file(self, path: Path) -> Preview:
        """What compacting this file would give. Raises ValueError where it is no conversation."""
        try:
            path = path.expanduser()
        except RuntimeError:
            raise ValueError(f"{path}: the home folder is not known; give the whole path") from None
        if path.is_dir():
            raise ValueError(f"{path}: is a folder; give the file of one session")
        return self._make(path, False)

    def _make(self, path: Path, own: bool) -> Preview:
        if self._child:
            return aside(make_preview, path, self._config, own)
        return make_preview(path, self._config, own)

    def write(self, preview: Preview) -> Path:
        """Write what was shown. Raises ValueError: there already, not writable, or the source was changed meanwhile."""
        from monitor.compaction import runfile
        from monitor.compaction.options import CompactionError

        if preview.blocked:
            raise ValueError(preview.blocked)
        out = str(preview.target)
        try:
            with runfile.locked(out):
                runfile.unchanged(preview.stamp if isinstance(preview.stamp, runfile.Stamp) else None)
                runfile.refuse_existing(out, str(preview.source), force=False)
                runfile.write(out, preview.result, str(preview.source), force=False)
        except CompactionError as error:
            raise ValueError(str(error)) from None
        return preview.target


def make_preview(path: Path, config: Path | None, own: bool) -> Preview:
    """The preview of one file.

    Args:
        config: a settings file, None for the user's own.
        own: the file is that of a session; recordings of many requests are refused then.

    Raises:
        ValueError: why there is none, in one sentence.
    """
    from monitor.compaction import runfile
    from monitor.compaction.options import CompactionError
    from monitor.compaction.strategies import apply
    from monitor.conversation import dump, load
    from monitor.conversation.model import ConversationError

    try:
        data, stamp = runfile.read(str(path))
        conv = load(data, path=str(path))
        if own and conv.container:
            raise ValueError(
                f"{path.name} records {conv.calls_in_file} requests and is no session file; ctxmon compact "
                f"{path.name} --call N compacts one of them"
            )
        options, warnings = _options(path, config)
        outcome, proof = apply(conv, options)
        if outcome.output is None:
            raise ValueError(f"{path.name}: {outcome.reason or 'there is nothing to fold'}")
        result = dump(outcome.output)
    except (CompactionError, ConversationError) as error:
        if own and isinstance(error, ConversationError) and error.reason.startswith(_NO_MESSAGES):
            raise ValueError(
                f"{path.name} holds no messages: session files of Claude Code, Codex and Pi and exported conversations "
                f"can be compacted, logs of usage figures cannot"
            ) from None
        raise ValueError(str(error)) from None
    target = target_of(path)
    blocked = ""
    try:
        runfile.refuse_existing(str(target), str(path), force=False)
    except CompactionError:
        there = target.exists()
        blocked = f"{target.name} is there already and is not overwritten: move it away first" if there else ""
        blocked = blocked or f"{target.parent} cannot be written to"
    return _preview_of(outcome, proof, path, target, (*warnings, *outcome.notes), blocked, result, stamp)


def _options(path: Path, config: Path | None) -> tuple[Options, list[str]]:
    """The settings of the user, as far as they hold without a model."""
    from monitor.compaction import settings
    from monitor.compaction.options import Options, preset, strategies

    kept = settings.load(config)
    own = kept.compact
    base: dict[str, Any] = {}
    names = ("keep_exchanges", "keep_tokens", "summary_tokens")
    if own.get("preset"):
        base = {key: value for key, value in preset(own["preset"]).items() if key in names}
    for key in ("keep_tokens", "summary_tokens", "prefix", "acknowledgement", "strict_roles"):
        if key in own:
            base[key] = own[key]
    if "keep" in own:
        base["keep_exchanges"] = own["keep"]
    wanted = strategies(own.get("strategy", "summary"))
    possible = tuple(one for one in wanted if one in ("summary", "trim")) or ("summary",)
    warnings = []
    if kept.llm.get("base_url") or possible != wanted:
        warnings.append("made without a model; ctxmon compact does it as your settings say")
    pointer = f"the whole conversation: ctxmon show {path.name}"
    return Options(**base, strategies=possible, pointer=pointer), warnings


def session_file(view: SessionView) -> Path:
    """The file that holds the newest call of the main line. Raises ValueError where there is none on this machine."""
    name = view.last_turn.call.file if view.last_turn is not None else next(iter(view.files), "")
    if not name or name in ("-", "stdin"):
        raise ValueError("this session was piped in; save it to a file first, then ctxmon compact FILE")
    if "://" in name:
        raise ValueError("this session was read from an address, which tells usage figures only")
    path = Path(name)
    if not path.is_file():
        raise ValueError(f"{name}: is not there any more")
    return path


def target_of(path: Path) -> Path:
    """``NAME.compact.EXT`` beside the file; what was compressed is written plain."""
    from monitor.conversation.files import default_output

    plain = path.with_suffix("") if path.suffix in _PACKED else path
    return default_output(plain, "compact")


def _preview_of(
    outcome: Outcome,
    proof: Proof | None,
    path: Path,
    target: Path,
    warnings: Sequence[str],
    blocked: str,
    result: bytes,
    stamp: object,
) -> Preview:
    from monitor.conversation.tokens import estimated, measure

    output = outcome.output
    assert output is not None
    before, after = measure(outcome.source).parts(), measure(output).parts()
    redact = outcome.redactor
    sections = outcome.summary.sections if outcome.summary else {}
    return Preview(
        source=path,
        target=target,
        tokens_before=outcome.tokens_before,
        tokens_after=outcome.tokens_after,
        estimated=estimated(),
        messages_before=len(outcome.source.messages),
        messages_after=len(output.messages),
        stays=_stays(outcome),
        parts=tuple((name, before[name], after[name]) for name in before if before[name] or after[name]),
        rules=tuple(redact(rule.text) for rule in outcome.state.active_rules()),
        sections=tuple((name, text) for name, text in sections.items() if text.strip()),
        retention=tuple(
            Retention(kind.replace("_", " "), one.kept, one.total, one.lost)
            for kind, one in (proof.retention.items() if proof else ())
            if one.total
        ),
        invented=proof.invented if proof else (),
        repairs=outcome.repairs,
        changes=tuple(_changes(outcome, output)),
        warnings=tuple(warnings),
        blocked=blocked,
        result=result,
        stamp=stamp,
    )


def _stays(outcome: Outcome) -> str:
    cut = outcome.cut
    exchanges = f"{cut.exchanges} exchange{'s' if cut.exchanges != 1 else ''}"
    split = ", the first of them cut" if cut.split else ""
    return f"{exchanges} ({len(cut.kept)} messages, {cut.tokens:,} tokens{split})"


def _changes(outcome: Outcome, output: Conversation) -> Iterator[Change]:
    """All messages of the old context, and the summary where it comes to stand."""
    from monitor.conversation.tokens import count_message

    kept = {id(message) for message in outcome.cut.kept}
    source = [message for message in outcome.source.messages if message.role != "system"]
    now = _partners(source if outcome.summary is None else list(outcome.cut.kept), output)
    names = {call.id: call.name for message in source for call in message.calls}
    summary = outcome.summary
    for message in source:
        stays = id(message) in kept
        if stays and summary is not None:
            yield Change("+", "summary", summary.tokens, summary.text)
            summary = None
        partner = now.get(id(message))
        sign: Sign = "-" if not stays else "~" if partner is not None and _said(partner) != _said(message) else " "
        yield Change(sign, _who(message, names), count_message(message), outcome.redactor(_first_words(message)))
    if summary is not None:
        yield Change("+", "summary", summary.tokens, summary.text)


def _partners(kept: Sequence[Message], output: Conversation) -> dict[int, Message]:
    """What became of each message that stays: they end the new context, in the same order."""
    now = [message for message in output.messages if message.role != "system"][-len(kept) :] if kept else []
    if len(now) != len(kept) or any(a.role != b.role for a, b in zip(kept, now)):
        return {}
    return {id(old): new for old, new in zip(kept, now)}


def _said(message: Message) -> list[str]:
    return [
        *(part.text for part in message.parts if hasattr(part, "text")),
        *(call.arguments_text for call in message.calls),
    ]


def _who(message: Message, names: dict[str, str]) -> str:
    if message.is_summary:
        return "earlier summary"
    if message.results:
        tools = dict.fromkeys(result.name or names.get(result.call_id, "") for result in message.results)
        return " ".join(["result", *filter(None, tools)])
    if message.calls:
        return " ".join([message.role, "→", *dict.fromkeys(call.name for call in message.calls)])
    return message.role


def _first_words(message: Message) -> str:
    text = message.text
    if not text.strip():
        parts = [result.text for result in message.results] or [call.arguments_text for call in message.calls]
        text = next((part for part in parts if part.strip()), "")
    return " ".join(text[:_LOOK].split())
