"""Request bodies that gateways kept with their rows: what a conversation is recognised by, and what a call was for."""

from __future__ import annotations

import msgspec

from monitor.readers import exchange_request
from monitor.readers.exchange_messages import Messages, rolling
from monitor.records import Evidence, Purpose


class BodyFacts(msgspec.Struct, frozen=True):
    """What a request body adds to a row."""

    evidence: Evidence
    purpose: Purpose = "work"
    has_bodies: bool = False


class Bodies:
    """Reads request bodies of one file; messages repeated from call to call are hashed once."""

    def __init__(self) -> None:
        self._memory = Messages()

    def facts(
        self, body: bytes | None, origin: str | None, response_id: str | None, previous: str | None = None
    ) -> BodyFacts:
        """Evidence and purpose.

        Args:
            body: the request as JSON, None if it was not kept.
            origin: hash of who sent it.
            response_id: the answer's id.
            previous: the id of the answer this request continues, where the row says it outside of the body.
        """
        request = exchange_request.parse(body, self._memory) if body is not None and len(body) > 2 else None
        if request is None or not request.has_messages:
            return BodyFacts(Evidence(response_id=response_id, previous_response_id=previous, origin=origin))
        chained, single = rolling(request.items)
        field = request.body
        evidence = Evidence(
            response_id=response_id,
            previous_response_id=previous or exchange_request.text(field.previous_response_id),
            cache_key=exchange_request.text(field.prompt_cache_key),
            messages=chained,
            message_ids=single,
            system=request.system,
            tools=request.tools,
            origin=origin,
        )
        purpose: Purpose = "compaction" if request.asks_summary else "side" if request.asks_side else "work"
        return BodyFacts(evidence, purpose, has_bodies=True)
