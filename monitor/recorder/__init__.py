"""The recording proxy: passes model traffic through unchanged and writes one line per call.

The parts, from the wire to the file: :mod:`http1` (messages and their framing), :mod:`link` and :mod:`proxy` (client
and upstream side of a connection), :mod:`upstreams` and :mod:`connect` (where requests may go, and how), :mod:`capture`
(what is tapped, handed to a worker thread), :mod:`request`, :mod:`evidence`, :mod:`tap`, :mod:`found`, :mod:`ws` and
:mod:`wscalls` (what a body tells), :mod:`record` (the line), :mod:`logfile` (the file), :mod:`server` (binding, life
and end), :mod:`setup` (what to set in the clients).

It stands on asyncio protocols that pass the bytes of a body on as they came. An ASGI server with an HTTP client behind
it takes every chunk apart and builds it anew: measured at 5.4 s of CPU per 1,000 calls against 0.8 here, and a tenth of
direct throughput against more than half (``benchmarks/recorder.py`` measures the recorder).
"""
