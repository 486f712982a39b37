"""The conversation behind a call: the file it was read from, opened on request, and the right request of a capture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from monitor.records import Call
from monitor.sessions.view import Turn

if TYPE_CHECKING:
    from monitor.conversation.model import Conversation

#: larger files are not opened for their texts: all of it is held in memory
MAX_BYTES = 512 * 1024 * 1024


def conversation_of(turn: Turn) -> Conversation | None:
    """The conversation that a call belongs to, as its file holds it; None if the file holds no texts, several
    conversations of which none is this one, or cannot be read."""
    from monitor.conversation import ConversationError, load

    call = turn.call
    try:
        if os.stat(call.file).st_size > MAX_BYTES:
            return None
        conv = load(call.file)
        if conv.container:
            place = _request(call, conv)
            if place is None:
                return None
            if place != conv.call_index:
                conv = load(call.file, call=place)
    except (ConversationError, OSError, RecursionError):
        return None
    if conv.lines and conv.session and conv.session != call.session and not conv.container:
        # a file of another session: an old copy, or several in one
        return None
    return conv


def _request(call: Call, conv: Conversation) -> int | None:
    """Which request of a capture a call is: the one whose messages have the same hashes."""
    if conv.calls_in_file == 1:
        return 0
    told = call.evidence
    if told is None or not told.messages:
        return None
    from monitor.conversation.formats import detect
    from monitor.conversation.formats.base import Document
    from monitor.conversation.formats.captured import Capture
    from monitor.conversation.jsonio import dumps
    from monitor.readers.exchange_messages import Messages, rolling
    from monitor.readers.exchange_request import parse

    with open(call.file, "rb") as stream:
        doc = Document(stream.read(), call.file, None)
    handler = detect(doc)
    if not isinstance(handler, Capture):
        return None
    memory = Messages()
    found: int | None = None
    for place, body in enumerate(handler.bodies(doc)):
        request = parse(dumps(body.value).encode("utf-8", "replace"), memory)
        if request is not None and rolling(request.items)[0][-8:] == told.messages[-8:]:
            found = place  # of a repeated request the last one
    return found
