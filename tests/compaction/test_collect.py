"""A conversation read into its state: what was announced, why an edit was made, where files are, what is spoken of."""

from __future__ import annotations

import json
from typing import Any

from monitor.compaction.blocks import blocks
from monitor.compaction.collect import collect
from monitor.compaction.state import State
from monitor.conversation import from_messages


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def ran(text: str, command: str, output: str) -> list[dict[str, Any]]:
    return called(text, "bash", {"command": command}, output)


def called(text: str, name: str, args: dict[str, Any], output: str) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(args)}
    call = {"id": f"c{abs(hash((name, str(args), text)))}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": text or None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": output},
    ]


def state(*messages: dict[str, Any]) -> State:
    return collect(from_messages([user("Make the export faster."), *messages]))


def test_an_answer_that_only_says_something_leaves_the_plan() -> None:
    plan = says("Still to do:\n1. fill in form B2\n2. ask NIVA for the letter")
    told = state(plan, user("How long is it?"), says("1489 words."))
    assert [s.text for s in told.next] == ["fill in form B2", "ask NIVA for the letter"]
    looked = state(plan, user("Look at it."), *ran("", "cat form.md", "B2"), says("The form is short."))
    assert any("NIVA" in s.text for s in looked.next)
    edit = ran("", "sed -i s/a/b/ form.md", "")
    worked = state(plan, user("Do it."), *edit, says("The form is filled in."))
    assert any("NIVA" in s.text for s in worked.next)  # no list of tasks tells that it is done
    one = state(says("Next: fill in the form."), user("Do it."), *edit, says("The form is filled in."))
    assert not one.next
    later = [m for n in range(4) for m in (user(f"Part {n}."), *edit, says(f"Part {n} is finished now."))]
    assert not state(plan, *later).next


def test_what_was_given_up_is_told_with_the_sentence_that_names_it() -> None:
    found = state(
        *ran("I tried multiprocessing for this. That was dropped, it breaks the order.", "ls", "a"), user("ok")
    )
    assert any("multiprocessing" in s.text for s in (*found.dead_ends, *found.decisions))


def test_a_reason_is_kept_also_where_the_edit_is_a_command() -> None:
    found = state(
        *ran("", "cargo test", "test result: FAILED. 56 passed; 1 failed"),
        *ran(
            "The help wraps at another width, so term_width(100) is set.",
            "sed -i 's/new()/term_width(100)/' src/cli.rs",
            "",
        ),
        user("ok"),
    )
    assert any("term_width(100)" in s.text for s in found.decisions)


def test_no_file_loses_the_folder_it_is_known_by() -> None:
    edit = {"old_string": "a", "new_string": "b"}
    found = state(
        *called("", "replace", {"file_path": "/home/dev/app/app/build.gradle.kts", **edit}, "ok"),
        *called("", "replace", {"file_path": "/home/dev/app/app/src/Login.kt", **edit}, "ok"),
        user("ok"),
    )
    assert found.root == "/home/dev/app"
    assert set(found.files) == {"app/build.gradle.kts", "app/src/Login.kt"}


def test_a_run_that_mends_settles_the_check() -> None:
    found = state(
        *ran("", "ruff check src", "src/a.py:8:1: F401 `time` imported but unused\nFound 1 error."),
        *ran("", "ruff check src --fix", "Found 1 error (1 fixed, 0 remaining)."),
        user("ok"),
    )
    assert [c.covered for c in found.checks if c.status == "failed"] == ["ruff check src --fix"]
    assert all(e.resolved for e in found.errors)


def test_a_commit_inside_the_wrapper_of_a_client() -> None:
    found = state(*ran("", "git commit -am x", "Output: [feat/x a90cd31] RET-33: load\n 3 files changed\nExit Code: 0"))
    assert [c.hash for c in found.commits] == ["a90cd31"]


def test_values_of_settings_that_a_command_printed() -> None:
    found = state(
        *ran("", "cat package.json .env", '{"name":"shop"}\nVITE_API=https://api.shop.example:8444\n'), user("ok")
    )
    assert any("8444" in v.text for v in found.values)


def test_a_tool_that_notes_an_exit_code_of_failures_only() -> None:
    steps = [user("Build it."), *ran("", "make fw", "src/a.c:1: error: no park()\nmake: *** failed\nexit status 2")]
    built = "FLASH: 117388 B\nRAM: 14820 B"
    told = state(*steps, *ran("", "make fw", built))
    assert [(c.command, c.status) for c in told.checks] == [("make fw", "passed")]
    assert told.errors and all(e.resolved for e in told.errors)
    alone = state(user("Build it."), *ran("", "make fw", built))
    assert [c.status for c in alone.checks] == ["unknown"]  # nothing is known of how the tool tells a failure
    both = state(*steps, *ran("", "ls", "a\nexit status 0"), *ran("", "make fw", built))
    assert [c.status for c in both.checks if c.command == "make fw"] == ["unknown"]  # it notes success too


def test_a_file_that_a_command_edits_was_there_before() -> None:
    told = state(user("Bump it."), *ran("", "sed -i 's/411/412/' ci/main.yml", ""), says("Done."))
    assert told.files == {"ci/main.yml": "modified"}


def test_what_is_left_is_the_list_below_the_line_that_says_so() -> None:
    text = "Three failures:\n1. the ledger\n2. the clock\n\nBoth are mended.\n\nLeft:\n- the portal\n- an issue for v2"
    assert [s.text for s in state(user("Go on."), says(text)).next] == ["the portal", "an issue for v2"]
    escaped = "One sentence needs a source; I put `\\\\todo{cite}` there."
    assert not state(user("Go on."), says(escaped)).next


def test_the_newest_message_is_named_as_the_next_step() -> None:
    told = state(user("Go on."), says("Done."), user("Write the rollback plan.\nOne page."))
    steps = next(b for b in blocks(told, str) if b.section == "Next steps")
    assert steps.items[0].endswith("word for word): Write the rollback plan. One page")


def test_of_commands_that_differ_by_numbers_the_newest_are_told() -> None:
    runs = [m for n in range(6) for m in ran("", f"pytest --seed {n}", "3 passed")]
    failed = ran("", "pytest --seed 7", "1 failed")
    checks = next(b for b in blocks(state(user("Go."), *runs, *failed), str) if b.label.startswith("Checks"))
    assert [x.split("`")[1] for x in checks.items] == [f"pytest --seed {n}" for n in (3, 4, 5, 7)]


def test_ways_to_choose_from_are_no_decisions() -> None:
    text = "Options:\n1. parse by hand\n2. switch to Temporal with a polyfill instead\n\nI'd go with 1: no extra bytes."
    told = state(user("Why?"), says(text), user("1 is fine."))
    assert [s.text for s in told.findings] == ["(1) parse by hand", "(2) switch to Temporal with a polyfill instead"]
    assert [s.text for s in told.decisions] == ["I'd go with 1: no extra bytes."]


def test_the_rows_of_a_table_in_an_answer() -> None:
    table = "| way | effect | risk |\n|---|---|---|\n| raise the limit to 300 s | cures it | a restart |\n| other | none | - |"
    told = state(user("Which?"), says(f"As follows:\n\n{table}"))
    assert [s.text for s in told.findings] == [
        "raise the limit to 300 s – effect: cures it, risk: a restart",
        "other – effect: none",
    ]
    log = "| a | b |\n|---|---|\n" + "\n".join(f"| {n} | {n} |" for n in range(40))
    assert not state(user("Which?"), says(log)).findings  # a long one is data


def test_the_same_call_of_a_tool_of_its_own_settles_its_error() -> None:
    def resolved(second: str) -> list[bool]:
        messages: list[dict[str, Any]] = [user("Typeset it.")]
        for n, target in enumerate(("paper/main.tex", second)):
            answer = {"type": "tool_result", "tool_use_id": f"t{n}", "content": "12 pages"}
            if not n:
                answer |= {"content": "Error: File `t3.tex' not found.", "is_error": True}
            call = {"type": "tool_use", "id": f"t{n}", "name": "latex", "input": {"target": target}}
            messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [answer]}]
        return [e.resolved for e in collect(from_messages(messages, "anthropic")).errors]

    assert resolved("paper/main.tex") == [True]
    assert resolved("paper/letter.tex") == [False]


def test_tools_and_arguments_named_in_other_languages() -> None:
    steps = (
        *called("", "leer_archivo", {"ruta": "exportes/banco sept.csv"}, "a;b"),
        *called("", "datei_schreiben", {"pfad": "docs/plan.md", "text": "x"}, "ok"),
        *called("", "ejecutar", {"comando": "cuadrar --libro T3"}, "Diferencia: 0,00\nCUADRA: OK"),
    )
    told = state(user("Go."), *steps)
    assert told.files == {"exportes/banco sept.csv": "read", "docs/plan.md": "created"}
    assert [(c.command, c.status) for c in told.checks] == [("cuadrar --libro T3", "passed")]


def test_a_call_is_no_name() -> None:
    told = state(user("Call rows.append(1) where rows.append(2) stands."), says("rows.append(3) it is."))
    assert not any("(" in n for n in told.names)


def test_a_call_every_program_makes_is_no_name() -> None:
    told = state(user("Why does rows.append fail where rows.append and ledger.book stand?"), says("See ledger.book."))
    assert told.names == ("ledger.book",)


def test_a_choice_in_so_many_words_is_kept_with_its_reason() -> None:
    told = state(user("Verlet?"), *ran("Verlet it is: it keeps energy and the rope is one projection step.", "ls", "a"))
    assert [s.text for s in told.decisions] == ["Verlet it is: it keeps energy and the rope is one projection step."]


def test_a_way_the_user_rules_out_is_a_decision() -> None:
    told = state(user("Erdwärme ist raus, die Bohrung genehmigt uns keiner. Reichen 55 Grad?"), says("Ja."))
    decided = next(b for b in blocks(told, str) if b.section == "Decisions")
    assert decided.items == ["Erdwärme ist raus, die Bohrung genehmigt uns keiner. (the user)"]


def test_a_choice_and_its_reason_in_chinese() -> None:
    told = state(user("怎么去重？"), *ran("用 `课程_学号` 作为文档 _id，天然去重，比先查再写少一次请求。", "ls", "a"))
    assert [s.text for s in told.decisions] == ["用 `课程_学号` 作为文档 _id，天然去重，比先查再写少一次请求。"]


def test_a_decision_without_a_reason_is_told_with_what_stood_before_it() -> None:
    told = state(
        user("Which glue?"),
        *ran("Trying the wax.", "ls", "a"),
        says("The wax melts at 60 degrees, so it fails in the oven."),
        user("ok the wax is out then. resin"),
        says("Resin."),
    )
    decided = next(b for b in blocks(told, str) if b.section == "Decisions" and not b.label)
    why = "The wax melts at 60 degrees, so it fails in the oven."
    assert f"ok the wax is out then. (the user; said before: {why})" in decided.items


def test_own_words_in_front_of_a_decision_are_its_reason() -> None:
    told = state(user("Which glue?"), says("Wax."), user("Ah, the oven of the workshop is at 90. Drop the wax then."))
    decided = next(b for b in blocks(told, str) if b.section == "Decisions" and not b.label)
    assert decided.items == ["Drop the wax then. (the user; said before: Ah, the oven of the workshop is at 90.)"]


def test_what_follows_from_a_reason_is_a_decision() -> None:
    text = "Attempt: preforking. No gain: 38 s, since every worker imports the plugins. Lazy plugin import instead."
    assert any("Lazy plugin import" in s.text for s in state(*ran(text, "ls", "a")).decisions)
    assert state(*ran("L'encodage est en latin-1 alors que l'outil attend de l'UTF-8.", "ls", "a")).decisions


def test_an_answer_is_one_also_where_another_follows_it() -> None:
    found = state(says("Refunds settle after 14 days."), *ran("Next: the taxes.", "cat tax.py", "x = 1"), user("ok"))
    assert any("14 days" in s.text for s in found.findings)


def test_two_commands_in_one_line_that_failed_and_pass_now() -> None:
    line = "cmake --build build && ctest --test-dir build"
    found = state(*ran("", line, "1 tests failed\nexit code: 8"), *ran("", line, "100% tests passed\nexit code: 0"))
    assert {c.command: c.status for c in found.checks}[line] == "passed"


def test_what_is_done_instead_of_what_failed_is_told_with_it() -> None:
    text = "Intenté un bloqueo en memoria; no vale porque hay cuatro procesos. Uso SELECT ... FOR UPDATE."
    assert any("FOR UPDATE" in s.text for s in state(*ran(text, "ls", "a")).decisions)
