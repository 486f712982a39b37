"""Summaries by a model endpoint, over HTTP. Nothing here is imported before it is asked for."""

from __future__ import annotations

from monitor.compaction.summarizer.endpoint import Api, Endpoint, endpoint_of
from monitor.compaction.summarizer.writer import Mode, Writer, Written

__all__ = ["Api", "Endpoint", "Mode", "Writer", "Written", "endpoint_of"]
