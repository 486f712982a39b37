"""Settings of all tests: property tests draw the same examples on every run, so that a failure can be repeated.

CTXMON_EXPLORE=1 draws new ones.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("explore" if os.environ.get("CTXMON_EXPLORE") else "repeatable")
