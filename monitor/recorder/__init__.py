"""The recording proxy: passes model traffic through unchanged and writes one line per call.

The parts, from the wire to the file: :mod:`http1` (messages and their framing), :mod:`proxy` (client and upstream side
of a connection), :mod:`capture` (what is tapped, handed to a worker thread), :mod:`tap` and :mod:`evidence` (what a
body tells), :mod:`record` (the line), :mod:`logfile` (the file), :mod:`server` (binding, life and end).
"""
