"""Whether an error says that the prompt did not fit into the context of the model, in the words of any vendor.

Limits of another kind (requests and tokens per minute, length of the answer, size of an image) are none of it.
"""

from __future__ import annotations

import re

from monitor.readers.patterns import lazy

_LONGEST = 4000  # characters that are looked at
_ROOM = r"(?:window|length|limit|size|budget)"
_TOO_LONG = lazy(
    # machine words
    r"context_(?:length|window)_exceeded|exceed_context|ContextWindowExceeded|ContextOverflow|prompt_too_long"
    # the prompt is too long
    r"|\b(?:prompt|input|context|conversation)(?: is| was| length| text| tokens?)* too (?:long|large)"
    # it exceeds the context, or the context is exceeded
    rf"|exceed\w*\b[^.]{{0,60}}\bcontext {_ROOM}|\bcontext {_ROOM}\b[^.]{{0,60}}exceed"
    rf"|(?:out of room|does not fit|larger|greater|more)\b[^.]{{0,40}}\bcontext {_ROOM}"
    # what the model takes at most
    r"|\bmax(?:imum)? (?:context|prompt|input) (?:length|size|window)\b"
    r"|\b(?:prompt|input)(?: token)?(?: count)?\b[^.]{0,40}exceed\w*\s+(?:the\s+)?(?:max|limit)"
    r"|exceeded model token limit|reduce the length of (?:the |your )?(?:messages|prompt|input)",
    re.IGNORECASE,
)


def too_long(*said: object) -> bool:
    """Whether one of these words or sentences says so; what is no text says nothing."""
    return any(isinstance(one, str) and _TOO_LONG.search(one[:_LONGEST]) is not None for one in said)
