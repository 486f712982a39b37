"""The stories. Labels follow the story; what is one request only is no constraint."""

from __future__ import annotations

from tests.compaction.story_booking_es import STORY as BOOKING
from tests.compaction.story_en import EN
from tests.compaction.story_fr import FR
from tests.compaction.story_ja import JA
from tests.compaction.story_oom_en import STORY as OOM
from tests.compaction.story_research import RESEARCH

STORIES = {s.name: s for s in (JA, FR, EN, RESEARCH, OOM, BOOKING)}
