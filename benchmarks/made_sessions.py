"""Sessions made up call by call, with the truth about their compactions: material for the benchmarks of the analysis.

Growth per call is heavy-tailed as measured on public sessions (median 540 tokens, mean about 1,750, one call in a
hundred above 12,000; the first third of a window grows faster than the last). Each profile is one client: where it
compacts, what is left, what its provider's cache does and whether that is reported. Between the compactions stands
everything that looks like one and is none: passing calls of another kind, subagents in chains of their own, changes of
the model, cleared tool results, going back, pauses, new sessions under the same key.

Seeded; nothing here reads the clock.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from monitor.records import Call, Event

START = 1_767_261_600_000


@dataclass(frozen=True, slots=True)
class Profile:
    """One client and provider."""

    name: str
    source: str
    provider: str | None
    model: str
    other_model: str
    opening: tuple[int, int]  # first prompt: system, tools, first message
    fixed: float  # share of the opening that every request of the client shares
    limit: int  # prompt at which it compacts by itself
    left: tuple[float, float]  # prompt after a compaction, as a share of the prompt before it
    cache: str  # "exact" (Anthropic), "blocks" (multiples of 128), "none" (not reported)
    evidence: str = "explicit"


PROFILES = (
    Profile("claude-code 200k", "claude-code", "anthropic", "claude-sonnet-4-5", "claude-opus-4-5",
            (14_000, 45_000), 0.8, 167_000, (0.14, 0.36), "exact"),
    Profile("claude-code 1M", "claude-code", "anthropic", "claude-opus-4-8", "claude-sonnet-5",
            (20_000, 45_000), 0.8, 420_000, (0.04, 0.12), "exact"),
    Profile("codex", "codex", "openai", "gpt-5.4", "gpt-5.4-mini",
            (9_000, 20_000), 0.7, 244_800, (0.08, 0.15), "blocks"),
    Profile("pi", "pi", "anthropic", "claude-sonnet-4-5", "claude-opus-4-5",
            (2_000, 12_000), 0.5, 183_600, (0.15, 0.25), "exact"),
    Profile("opencode small window", "opencode", None, "loop-1", "loop-2",
            (6_000, 9_000), 0.8, 40_000, (0.3, 0.45), "blocks"),
    Profile("gemini-cli", "gemini-cli", "google", "gemini-2.5-pro", "gemini-2.5-flash",
            (9_000, 16_000), 0.7, 524_000, (0.3, 0.42), "blocks"),
    Profile("cline halves", "cline", "anthropic", "claude-sonnet-4-5", "claude-opus-4-5",
            (12_000, 20_000), 0.8, 180_000, (0.42, 0.6), "exact"),
    Profile("gateway rows without cache figures", "new-api", None, "glm-4.7", "glm-4.5-air",
            (8_000, 20_000), 0.7, 120_000, (0.12, 0.4), "none", "lane"),
    Profile("traces without cache figures", "langfuse", None, "glm-4.7", "glm-4.5-air",
            (8_000, 20_000), 0.7, 120_000, (0.12, 0.4), "none"),
    Profile("gateway rows", "litellm", "openai", "gpt-5.4", "gpt-5.4-mini",
            (5_000, 15_000), 0.7, 150_000, (0.1, 0.3), "blocks", "lane"),
)  # fmt: skip


@dataclass(slots=True)
class Made:
    """One session: its records in order of time, and where its compactions can be seen."""

    name: str
    profile: Profile
    records: list[Call | Event] = field(default_factory=list)
    #: for each compaction the calls of its chain behind it, up to the first one of the conversation: a call of another
    #: kind may stand between them, and there the smaller context is seen first
    compactions: list[set[str]] = field(default_factory=list)


def sessions(count: int, seed: int = 1) -> Iterator[Made]:
    """``count`` sessions, the profiles in turn."""
    for number in range(count):
        yield _Writer(PROFILES[number % len(PROFILES)], random.Random(seed * 1_000_003 + number), number).write()


class _Writer:
    def __init__(self, profile: Profile, chance: random.Random, number: int) -> None:
        self.profile, self.chance = profile, chance
        self.made = Made(f"made-{number}", profile)
        self.time = START + number * 86_400_000
        self.number = 0
        self.opening = chance.randint(*profile.opening)
        self.prompt = self.opening
        self.cached = 0  # prefix of the main chain that the provider holds
        self.model = profile.model
        self.since = 0  # calls of the window
        self.inflated = False
        self.behind: set[str] | None = None  # calls since a compaction that no call of the conversation followed yet
        self.limit = int(profile.limit * chance.uniform(0.97, 1.0))

    def write(self) -> Made:
        chance = self.chance
        for _ in range(chance.randint(60, 400)):
            self._pause()
            self._between()
            self._main()
            full = self.prompt > self.limit
            if full or (self.prompt > 40_000 and self.prompt > 2 * self.opening and chance.random() < 0.004):
                self._compact(auto=full)
        return self.made

    # ------------------------------------------------------------------------------------------------ pieces
    def _pause(self) -> None:
        gap = self.chance.choice((4, 7, 11, 18, 30)) * 1_000 + self.chance.randint(0, 999)
        if self.chance.random() < 0.015:
            gap += self.chance.choice((420_000, 4_000_000))
            self.cached = 0
        self.time += gap

    def _between(self) -> None:
        """What happens between two calls of the conversation now and then, and is no compaction."""
        chance = self.chance
        happens = chance.random()
        if happens < 0.012:  # a call of another kind in the same chain, once or twice, then back
            small = chance.randint(300, max(301, self.prompt // 3))
            for _ in range(chance.choice((1, 1, 2))):
                if self.behind is not None:
                    self.behind.add(f"{self.made.name}:{self.number}")
                self._call(small, read=0)
                small += chance.randint(20, 400)
        elif happens < 0.018:
            self.model = self.profile.other_model if self.model == self.profile.model else self.profile.model
            self.prompt = int(self.prompt * chance.choice((0.62, 0.8, 0.95, 1.2)))  # another tokenizer, other tools
            self.cached = 0
        elif happens < 0.024 and self.profile.cache == "exact" and self.since > 5 and self.prompt > 3 * self.opening:
            self.prompt = int(max(1.4 * self.opening, self.prompt * chance.uniform(0.4, 0.9)))  # the user went back
            self.cached = self.prompt
        elif happens < 0.030 and self.since > 5 and self.prompt > 2 * self.opening:
            freed = int(self.prompt * chance.uniform(0.1, 0.28))  # old tool results were cleared
            self._event("microcompaction")
            self.prompt -= freed
            self.cached = min(self.cached, int(self.opening * self.profile.fixed))
        elif happens < 0.034 and self.profile.evidence == "lane" and self.since > 5 and self.prompt > 3 * self.opening:
            self.time += chance.randint(31, 55) * 60_000  # a new session under the same key
            self.prompt = int(self.opening * chance.uniform(0.93, 1.07))
            self.cached = 0
        elif happens < 0.05:
            self._agent(f"agent:{self.number}")
        elif happens < 0.0515 and self.since > 5 and self.profile.evidence != "lane":
            self._agent("main")  # an old client writes it into the same chain; lanes are formed by growth

    def _agent(self, chain: str) -> None:
        """A subagent works for some calls, in a chain of its own or not; main stands still."""
        prompt = self.chance.randint(8_000, 20_000)
        read = 0
        for _ in range(self.chance.randint(2, 9)):
            self.time += self.chance.randint(3_000, 20_000)
            self._call(prompt, read=read, chain=chain)
            read = prompt
            prompt += self._growth()

    def _growth(self) -> int:
        early = 1.5 if self.prompt < self.limit * 0.5 else 0.9
        largest = min(31_000, self.limit // 8)  # clients cut what a tool may return
        return min(largest, int(self.chance.lognormvariate(6.2, 1.5) * early)) + 20

    def _main(self) -> None:
        if self.behind is not None:
            self.made.compactions.append(self.behind | {f"{self.made.name}:{self.number}"})
            self.behind = None
        extra = 0
        if self.inflated:  # reminders that only the first call of a window carries
            extra = int(self.prompt * self.chance.uniform(0.05, 0.4))
            self.inflated = False
        self._call(self.prompt + extra, read=min(self.cached, self.prompt))
        self.since += 1
        self.cached = self.prompt
        self.prompt += self._growth()

    def _compact(self, auto: bool) -> None:
        chance = self.chance
        self._pause()
        self._event("compaction", trigger="auto" if auto else "manual")
        after = int(max(self.opening * 0.9, self.prompt * chance.uniform(*self.profile.left)))
        self.prompt = min(after, int(self.prompt * 0.65))
        self.cached = int(self.opening * self.profile.fixed * chance.choice((0.0, 0.6, 1.0)))
        self.behind, self.since = set(), 0
        self.inflated = chance.random() < 0.1

    # ------------------------------------------------------------------------------------------------ records
    def _event(self, kind: str, **facts: Any) -> None:
        self.made.records.append(
            Event(kind=kind, evidence="recorded", session=self.made.name, file=f"{self.made.name}.jsonl",  # type: ignore[arg-type]
                  line=len(self.made.records), time=self.time, key=f"{kind}:{self.made.name}:{self.time}", **facts)
        )  # fmt: skip

    def _call(self, prompt: int, read: int, chain: str = "main") -> None:
        profile = self.profile
        found: int | None = read
        write: int | None = 0
        if profile.cache == "none":
            found = write = None
        elif profile.cache == "blocks":
            found = read // 128 * 128
        else:
            write = max(0, prompt - read - 5)
        self.made.records.append(
            Call(
                session=self.made.name,
                source=profile.source,
                file=f"{self.made.name}.jsonl",
                line=len(self.made.records),
                chain=chain,
                session_evidence=profile.evidence,  # type: ignore[arg-type]
                key=f"{self.made.name}:{self.number}",
                time=self.time,
                provider=profile.provider,
                model=self.model,
                prompt_tokens=prompt,
                fresh_tokens=prompt - (found or 0) - (write or 0),
                cache_read_tokens=found,
                cache_write_tokens=write,
                output_tokens=self.chance.randint(60, 2_500),
            )
        )
        self.number += 1
