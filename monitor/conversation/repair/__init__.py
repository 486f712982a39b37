"""Repair of a conversation: what can be put right without inventing anything but a marked placeholder.

Every step says what it did, by place; nothing is repaired in silence. Not repairable: no messages at all, no user
message, a request too large without images, a file that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.conversation.marks import LOST_CALL, OPENING, UNKNOWN_ROLE
from monitor.conversation.model import Conversation
from monitor.conversation.repair import content, ids, lines, pairs, request, roles, thinking
from monitor.conversation.repair.base import NO_RESULT, Sheet
from monitor.conversation.rules import Violation, check

__all__ = ["LOST_CALL", "NO_RESULT", "OPENING", "UNKNOWN_ROLE", "repair"]

_STEPS = (
    lines.fix_lines,
    content.fix_text,
    request.fix_compaction,
    roles.fix_roles,
    content.fix_blocks,
    content.fix_arguments,
    ids.fix_ids,
    pairs.fix_kinds,
    pairs.fix_pairs,
    thinking.fix_thinking,
    content.fix_images,
    content.fix_empty,
    request.fix_request,
)
_ROUNDS = 6
#: session files, whose entries name their parents
_LINKED = ("claude-code", "codex", "pi")


def repair(
    conv: Conversation,
    violations: Iterable[Violation],
    *,
    strict_roles: bool = False,
    bedrock: bool = False,
    max_bytes: int | None = None,
) -> tuple[Conversation, list[str]]:
    """(the repaired conversation, what was done). The options are those the violations were found with.

    Works in rounds, as mending one rule may uncover another; ends when nothing is broken or nothing more can be done.
    """
    done: list[str] = []
    found = [v for v in violations if v.level == "error"]
    options = (strict_roles, bedrock, max_bytes)
    conv, found = _rounds(conv, found, done, options)
    for _ in range(_ROUNDS):
        if not (done and conv.format in _LINKED):
            break
        # moved session lines are linked anew; what is still wrong is seen only in the order they now have
        from monitor.conversation import dump, load  # it imports the formats, which know of repair's marks

        conv = load(dump(conv), conv.format, path=conv.path)
        found = check(conv, None, *options)
        if not found:
            break
        conv, found = _rounds(conv, found, done, options)
    return conv, done


def _rounds(
    conv: Conversation, found: list[Violation], done: list[str], options: tuple[bool, bool, int | None]
) -> tuple[Conversation, list[Violation]]:
    """Mend until nothing is broken or nothing more can be done."""
    for _ in range(_ROUNDS):
        if not found:
            break
        sheet = Sheet(conv, {v.code for v in found}, done)
        before = len(done)
        for step in _STEPS:
            step(sheet)
        conv = sheet.conv
        if len(done) == before:
            break
        found = check(conv, None, *options)
    return conv, found
