"""Where the work stands, from its latest steps: waiting tool calls, end of a phase, loops, change of
subject, todos.

Input are :class:`monitor.records.Step` values of one chain in order (hashes and flags, no words). Weights
are those of the design's section on boundary and topic signals; they are proposals backed by four real
sessions, each signal alone is weak. Everything here is a pure function; unknown is None (no steps at all).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import msgspec

from monitor.records import Step

#: a tool call without result for longer than this is taken as abandoned (a client that was killed)
ABANDONED_MS = 6 * 3_600_000
_BOUNDARY_STEPS = 6  # a commit or a passing test counts for three calls
_TODO_FRESH = 6


class Phase(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What the steps say. ``why`` texts are short and carry no words of the conversation."""

    pending: int = 0
    pending_since: int | None = None
    abandoned: bool = False
    boundary: float | None = None
    boundary_why: tuple[str, ...] = ()
    loop: bool | None = None
    loop_count: int = 0
    loop_why: str = ""
    corrections: int = 0
    topic: float | None = None
    topic_depends: bool | None = None
    topic_why: tuple[str, ...] = ()
    todos: tuple[int, int, int] | None = None
    calls_per_todo: float | None = None
    task_complete: bool | None = None


def phase(steps: Sequence[Step], *, idle_s: float | None, now_ms: int) -> Phase:
    """Judge the latest steps of a chain.

    Args:
        steps: in order; the last 64 are enough.
        idle_s: seconds since the start of the last request, None if unknown.
        now_ms: the present, for tool calls that never came back.
    """
    if not steps:
        return Phase()
    waiting, since = _pending(steps)
    abandoned = bool(waiting) and since is not None and now_ms - since > ABANDONED_MS
    if abandoned:
        waiting = 0
    todos, per_todo, todo_marks = _todos(steps)
    topic, depends, topic_why = _topic(steps)
    loop, loop_count, loop_why, corrections = _loop(steps)
    complete = _complete(steps, todos)
    if waiting:
        score: float = 0.0
        why: tuple[str, ...] = ("a tool call is waiting for its result",)
    else:
        score, why = _boundary(steps, todo_marks, topic, idle_s)
    return Phase(
        pending=waiting,
        pending_since=since,
        abandoned=abandoned,
        boundary=score,
        boundary_why=why,
        loop=loop,
        loop_count=loop_count,
        loop_why=loop_why,
        corrections=corrections,
        topic=topic,
        topic_depends=depends,
        topic_why=topic_why,
        todos=todos,
        calls_per_todo=per_todo,
        task_complete=complete,
    )


def _typed(step: Step) -> bool:
    """Something a person typed (or a slash command), not what a client added."""
    return step.kind == "command" or (step.kind == "user" and "meta" not in step.flags)


def _pending(steps: Sequence[Step]) -> tuple[int, int | None]:
    """Tool calls without a result, and when the first of them was made."""
    waiting: dict[str, Step] = {}
    for n, step in enumerate(steps):
        kind = step.kind
        if kind == "tool_call":
            waiting[step.id or f"#{n}"] = step
        elif kind == "tool_result":
            if waiting.pop(step.id, None) is None and waiting and not step.id:
                waiting.pop(next(iter(waiting)))
        else:
            # an answer, or the user speaking again (also by interrupting), ends what was waiting
            waiting.clear()
    times = [step.time for step in waiting.values() if step.time is not None]
    return len(waiting), min(times) if times else None


def _failed(result: Step) -> bool:
    return result.ok is False or (result.ok is None and "failed" in result.flags)


def _pairs(steps: Sequence[Step]) -> list[tuple[Step, Step]]:
    """Tool calls with their results, in order of the results."""
    calls: dict[str, Step] = {}
    out = []
    for step in steps:
        if step.kind == "tool_call":
            calls[step.id] = step
        elif step.kind == "tool_result" and (call := calls.get(step.id)) is not None:
            out.append((call, step))
    return out


def _boundary(
    steps: Sequence[Step],
    todo_marks: tuple[bool, bool, bool, bool],
    topic: float | None,
    idle_s: float | None,
) -> tuple[float, tuple[str, ...]]:
    """Sum of the signals, clipped to 0..1, and what went into it."""
    last = steps[-1]
    if last.kind == "command" and set(last.flags) & {"clear", "compact", "new", "init"}:
        return 1.0, ("the user gave a command for it",)
    opening = last if _typed(last) else None
    body = steps[:-1] if opening is not None else steps
    # what was done before the user's last instruction ended another phase than this one
    start = next((n for n in range(len(body) - 1, -1, -1) if _typed(body[n]) and "ack" not in body[n].flags), -1)
    segment = body[start + 1 :]
    recent = segment[-_BOUNDARY_STEPS:]
    found: list[tuple[float, str]] = []
    # the user speaks when the turn is over, also where the log does not mark its end
    spoke = opening is not None and opening.kind == "user" and "interrupted" not in opening.flags
    ended = bool(body) and (body[-1].kind == "answer" or spoke)
    if ended:
        found.append((0.35, "the turn has ended"))
    pairs = _pairs(segment)
    late = {id(result) for result in recent}
    done = [(c, r) for c, r in pairs if id(r) in late]
    checks = [(c, r) for c, r in pairs if c.category == "check"]
    outcome = [_outcome(c, r) for c, r in checks]
    edits = [n for n, step in enumerate(segment) if step.kind == "tool_call" and step.category == "edit"]
    places = {id(step): n for n, step in enumerate(segment)}
    passed_at = max((places[id(r)] for (_, r), ok in zip(checks, outcome) if ok), default=-1)
    if checks and outcome[-1] and id(checks[-1][1]) in late and any(n < passed_at for n in edits):
        found.append((0.25, "tests or build pass after an edit"))
    if any(c.category == "commit" and r.ok is not False for c, r in done):
        found.append((0.25, "a commit was made"))
    if any(c.category == "push" and r.ok is not False for c, r in done):
        found.append((0.35, "work was pushed, tagged or published"))
    complete, ticked, fresh_list, just_started = todo_marks
    if complete:
        found.append((0.40, "all todos are done"))
    elif ticked:
        found.append((0.10, "a todo was ticked off"))
    elif fresh_list:
        found.append((0.20, "a new todo list was made"))
    if any(step.kind == "tool_call" and "plan_exit" in step.flags for step in recent):
        found.append((0.30, "planning has ended"))
    if opening is not None and topic is not None and topic >= 0.6:
        found.append((0.30, "the last message opens another subject"))
    if idle_s is not None and idle_s > 600:
        found.append((0.15, "idle for over 10 minutes"))
    if any(_failed(r) or _outcome(c, r) is False for c, r in pairs[-2:]):
        found.append((-0.40, "one of the last two results failed"))
    if checks and edits and edits[-1] > passed_at:
        found.append((-0.30, "edited since tests last passed"))
    if not ended and _same_file(segment):
        found.append((-0.20, "in a series of edits of one file"))
    if any(step.kind == "tool_call" and "background" in step.flags for step in recent):
        found.append((-0.30, "a background job was started"))
    if just_started:
        found.append((-0.20, "a todo was just begun"))
    total = sum(weight for weight, _ in found)
    return round(min(1.0, max(0.0, total)), 2), tuple(f"{text} ({weight:+.2f})" for weight, text in found)


def _outcome(call: Step, result: Step) -> bool | None:
    """Whether a test or build passed: the exit code, unless a pipe hides it; then what its output said."""
    said = True if "passed" in result.flags else False if "failed" in result.flags else None
    if result.ok is None or ("piped" in call.flags and said is not None):
        return said
    return result.ok


def _same_file(steps: Sequence[Step]) -> bool:
    """The last two tool calls edit the same file."""
    calls = [step for step in steps if step.kind == "tool_call"][-2:]
    return (
        len(calls) == 2
        and all(step.category == "edit" for step in calls)
        and bool(set(calls[0].paths) & set(calls[1].paths))
    )


def _loop(steps: Sequence[Step]) -> tuple[bool, int, str, int]:
    """(in a loop, repeats, why, corrections). Overload and network errors are nobody's loop."""
    corrections = _corrections(steps)
    pairs = [(c, r) for c, r in _pairs(steps) if "transient" not in r.flags]
    last = pairs[-6:]
    failing = [(c, r) for c, r in last if _failed(r) or (c.category == "check" and _outcome(c, r) is False)]
    count, why = 0, ""
    if failing and any(r is pairs[-1][1] or (len(pairs) > 1 and r is pairs[-2][1]) for _, r in failing[-1:]):
        key, repeats = Counter(c.key for c, _ in failing).most_common(1)[0]
        errors = {r.error_key for c, r in failing if c.key == key}
        # a test that fails differently after each edit is progress
        edited = any(c.category == "edit" for c, _ in last)
        if repeats >= 3 and not (edited and len(errors) > 1):
            count, why = repeats, "the same call failed"
        recent = [r for c, r in pairs[-12:] if (_failed(r) or _outcome(c, r) is False) and r.error_key]
        if recent:
            _, same = Counter(r.error_key for r in recent).most_common(1)[0]
            if same >= 3 and same > count:
                count, why = same, "the same error came back"
    if not count and corrections >= 2:
        count, why = corrections, "the user corrected the same matter"
    return bool(count), count, why, corrections


def _corrections(steps: Sequence[Step]) -> int:
    """Corrections in a row, newest first; another subject or two plain messages end the matter."""
    count = plain = 0
    for step in reversed(steps):
        if step.kind == "command" and set(step.flags) & {"clear", "new"}:
            break
        if step.kind != "user" or "meta" in step.flags or "ack" in step.flags:
            continue
        if "correction" in step.flags:
            count += 1
        elif not count or "new_task" in step.flags:
            break
        else:
            plain += 1
            if plain == 2:
                break
    return count


def _topic(steps: Sequence[Step]) -> tuple[float | None, bool | None, tuple[str, ...]]:
    """Score of the newest user message against the three before it, if nothing has been done about it yet."""
    at = next((n for n in range(len(steps) - 1, -1, -1) if _typed(steps[n])), None)
    if at is None or steps[at].kind == "command":
        return None, None, ()
    message = steps[at]
    if sum(step.kind == "tool_call" for step in steps[at + 1 :]) > 2:
        return None, None, ()  # the agent is at work on it
    if "ack" in message.flags:
        return 0.0, True, ("only a nod",)
    before = [step for step in steps[:at] if step.kind == "user" and "meta" not in step.flags and step.words]
    if len(message.words) < 4 or not before:
        return None, None, ()
    touched = {p for step in steps[:at] if step.kind == "tool_call" for p in step.paths}
    near = {p for step in [s for s in steps[:at] if s.kind == "tool_call"][-10:] for p in step.paths}
    shared = bool(set(message.paths) & near)
    found: list[tuple[float, str]] = []
    cosine = _cosine(message.words, [w for step in before[-3:] for w in step.words], before)
    if cosine < 0.08 and not shared:
        found.append((0.4, "other words than before"))
    if message.paths and not set(message.paths) & touched:
        found.append((0.3, "other files than before"))
    if "new_task" in message.flags:
        found.append((0.2, "opens with words of a new task"))
    if "anaphora" in message.flags:
        found.append((-0.3, "points back at what was there"))
    previous = next((s.time for s in reversed(steps[:at]) if s.time is not None), None)
    if previous is not None and message.time is not None and message.time - previous > 3_600_000:
        found.append((0.2, "after a pause of over an hour"))
    score = round(min(1.0, max(0.0, sum(weight for weight, _ in found))), 2)
    return score, shared or "anaphora" in message.flags, tuple(f"{text} ({w:+.1f})" for w, text in found)


def _cosine(a: Sequence[int], b: Sequence[int], documents: Sequence[Step]) -> float:
    """Similarity of two bags of words, each word weighted by how rare it is among the user's messages."""
    frequency = Counter(w for step in documents for w in set(step.words))
    left, right = set(a), set(b)
    if not left or not right:
        return 0.0

    def weight(word: int) -> float:
        return math.log(1 + (len(documents) + 1) / (1 + frequency[word]))

    dot = sum(weight(w) ** 2 for w in left & right)
    size = math.sqrt(sum(weight(w) ** 2 for w in left)) * math.sqrt(sum(weight(w) ** 2 for w in right))
    return dot / size if size else 0.0


def _todos(
    steps: Sequence[Step],
) -> tuple[tuple[int, int, int] | None, float | None, tuple[bool, bool, bool, bool]]:
    """Latest todo counts, calls per finished todo, and (complete, ticked, new list, just begun) of late."""
    state: tuple[int, int, int] | None = None
    complete = ticked = fresh = begun = False
    calls_now = calls_at_tick = 0
    per_todo: list[int] = []
    late = len(steps) - 2 * _TODO_FRESH
    for n, step in enumerate(steps):
        if step.kind == "tool_call":
            calls_now += 1
        if step.kind == "user" and _typed(step) and "ack" not in step.flags and n < len(steps) - 1:
            complete = ticked = fresh = begun = False  # belongs to what was asked before
        new = _next_todos(state, step)
        if new is None or new == state:
            continue
        old, state = state, new
        is_late = n >= late
        if old is not None and new[2] > old[2]:
            per_todo.append(max(1, (calls_now - calls_at_tick) // (new[2] - old[2])))
            calls_at_tick = calls_now
            ticked = is_late
        complete = is_late and new[0] == new[1] == 0 and new[2] > 0
        fresh = is_late and new[2] == 0 and (old is None or old[2] > 0)
        if fresh:
            calls_at_tick = calls_now
        if new[1] == 0:
            begun = False
        elif old is None or new[2] != old[2]:
            begun = is_late and n >= len(steps) - _TODO_FRESH
    middle = float(sorted(per_todo)[len(per_todo) // 2]) if per_todo else None
    return state, middle, (complete, ticked, fresh, begun)


def _next_todos(state: tuple[int, int, int] | None, step: Step) -> tuple[int, int, int] | None:
    if step.todos is not None:
        return step.todos
    waiting, active, done = state or (0, 0, 0)
    if "todo_add" in step.flags:
        return waiting + 1, active, done
    if "todo_start" in step.flags:
        return max(0, waiting - 1), active + 1, done
    if "todo_done" in step.flags:
        return (waiting, active - 1, done + 1) if active else (max(0, waiting - 1), active, done + 1)
    return None


def _complete(steps: Sequence[Step], todos: tuple[int, int, int] | None) -> bool | None:
    """All todos are done, the agent said so, or the user closed the matter with thanks and no new order."""
    for step in reversed(steps):
        if "complete" in step.flags:
            return True
        if _typed(step):
            if "thanks" in step.flags and "new_task" not in step.flags and len(step.words) < 4:
                return True
            break
    if todos is not None:
        return todos[0] == todos[1] == 0 and todos[2] > 0
    return False
