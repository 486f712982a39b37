"""Settings of all tests: property tests draw the same examples on every run, so that a failure can be repeated.

CTXMON_EXPLORE=1 draws new ones.
"""

from __future__ import annotations

import os
import signal

from hypothesis import settings

pytest_plugins = ["tests.postgres"]

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("CTXMON_EXPLORE") else "repeatable")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background by a script: what the tests start would ignore Ctrl+C as well
    signal.signal(signal.SIGINT, signal.default_int_handler)
