"""Steps: what tools and messages are turned into, and that no words survive."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.readers import steps


def call(name, arguments):
    return steps.tool_call("s", "main", 1000, 7, "t1", name, arguments)


def result(text, ok=None):
    return steps.tool_result("s", "main", 1000, 7, "t1", ok, text)


def said(text):
    return steps.user("s", "main", 1000, 7, text)


@pytest.mark.parametrize(
    ("name", "arguments", "category"),
    [
        ("Edit", {"file_path": "a.py", "old_string": "x"}, "edit"),
        ("write_to_file", {"path": "a.py"}, "edit"),
        ("apply_patch", "*** Begin Patch\n*** Update File: src/a.py\n", "edit"),
        ("str_replace_based_edit_tool", {"command": "view", "path": "a.py"}, "read"),
        ("Read", {"file_path": "a.py"}, "read"),
        ("Grep", {"pattern": "x"}, "search"),
        ("mcp__files__read_file", {"path": "a"}, "read"),
        ("developer__shell", {"command": "ls -la"}, "search"),
        ("TodoWrite", {"todos": []}, "todo"),
        ("update_plan", {"plan": []}, "todo"),
        ("ExitPlanMode", {"plan": "..."}, "plan"),
        ("Task", {"prompt": "look"}, "agent"),
        ("Bash", {"command": "pytest -q"}, "check"),
        ("Bash", {"command": "cd app && FOO=1 uv run pytest -q | tail -3"}, "check"),
        ("Bash", {"command": "python3 -m unittest"}, "check"),
        ("Bash", {"command": "npm run build"}, "check"),
        ("Bash", {"command": "timeout 60 go test ./..."}, "check"),
        ("Bash", {"command": "./gradlew test"}, "check"),
        ("Bash", {"command": "make -j4"}, "check"),
        ("Bash", {"command": "make clean"}, "shell"),
        ("Bash", {"command": "grep -rn pytest ."}, "search"),
        ("Bash", {"command": "echo 'git commit is next'"}, "shell"),
        ("Bash", {"command": "git add -A && git commit -m 'wip'"}, "commit"),
        ("Bash", {"command": "git commit -qm x && git push"}, "push"),
        ("Bash", {"command": "gh pr create --fill"}, "push"),
        ("Bash", {"command": "sed -n 1,20p a.py"}, "read"),
        ("Bash", {"command": "sed -i s/a/b/ a.py"}, "edit"),
        ("shell", {"command": ["bash", "-lc", "cargo test"]}, "check"),
        ("exec_command", b'"{\\"cmd\\":\\"pytest -q\\"}"', "check"),
        ("local_shell_call", {"action": {"command": ["ls"]}}, "search"),
        ("frobnicate", {"x": 1}, "other"),
    ],
)
def test_category_says_what_a_call_is_for(name, arguments, category):
    assert call(name, arguments).category == category


def test_the_same_command_is_the_same_key_however_it_is_spelled():
    first = call("Bash", b'{"command":"pytest  -q","description":"run the tests","timeout":1000}')
    again = call("Bash", {"timeout": 5, "command": "pytest -q"})
    other = call("Bash", {"command": "pytest -x"})
    assert first.key == again.key != other.key
    assert call("Read", '{"path":"a","limit":5}').key == call("Read", b'{"limit": 5, "path": "a"}').key
    assert call("Read", {"path": "a"}).key != call("Grep", {"path": "a"}).key


def test_keys_do_not_change_between_runs():
    # BLAKE2b-64 of ["read",{"path":"a"}] computed by hand with hashlib, without the last bit
    import hashlib

    digest = hashlib.blake2b(b'["read",{"path":"a"}]', digest_size=8).digest()
    assert call("Read", {"path": "a"}).key == int.from_bytes(digest, "little") >> 1


def test_a_path_is_the_same_relative_or_absolute_or_in_a_command():
    wanted = steps.path_hash("/home/u/shop/src/a.py")
    assert call("Edit", {"file_path": "src/a.py"}).paths == (wanted,)
    assert wanted in call("Bash", {"command": "sed -n 1,5p ./src/a.py"}).paths
    assert call("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/a.py\n"}).paths == (wanted,)
    assert call("Edit", {"file_path": "C:\\shop\\src\\a.py"}).paths == (wanted,)


@pytest.mark.parametrize(
    ("name", "arguments", "todos"),
    [
        (
            "TodoWrite",
            {"todos": [{"status": "completed"}, {"status": "in_progress"}, {"status": "pending"}, {}]},
            (2, 1, 1),
        ),
        ("update_plan", {"plan": [{"step": "a", "status": "completed"}]}, (0, 0, 1)),
        ("update_todo_list", {"todos": "[x] a\n[-] b\n[ ] c\n[ ] d"}, (2, 1, 1)),
        ("SetTodoList", {"todos": [{"title": "a", "status": "In Progress"}]}, (0, 1, 0)),
        ("TodoRead", {}, None),
    ],
)
def test_todo_tools_tell_open_active_and_done(name, arguments, todos):
    assert call(name, arguments).todos == todos


def test_flags_of_calls():
    assert call("Bash", {"command": "pytest | tail -3"}).flags == ("piped",)
    assert call("Bash", {"command": "npm run dev", "run_in_background": True}).flags == ("background",)
    assert call("ExitPlanMode", {"plan": "x"}).flags == ("plan_exit",)
    assert call("TaskCreate", {"subject": "x"}).flags == ("todo_add",)
    assert call("TaskUpdate", {"taskId": "1", "status": "completed"}).flags == ("todo_done",)


@pytest.mark.parametrize(
    ("text", "ok", "flags"),
    [
        ("Exit code 1\nboom", False, ()),
        ("Chunk ID: 1\nProcess exited with code 0\nOutput:\nfine", True, ()),
        ('{"output":"x","metadata":{"exit_code":2}}', False, ()),
        ("3 failed, 10 passed in 2.1s", None, ("failed",)),
        ("10 passed, 0 failed in 2.1s", None, ("passed",)),
        ("test result: ok. 12 passed; 0 failed; 0 ignored", None, ("passed",)),
        ("test result: FAILED. 1 passed; 1 failed", None, ("failed",)),
        ("Ran 3 tests in 0.1s\n\nOK", None, ("passed",)),
        ("a.ts(3,1): error TS2304: Cannot find name 'x'.", None, ("failed",)),
        ("no tests ran in 0.01s", None, ()),
        ("<tool_use_error>File has not been read yet</tool_use_error>", False, ()),
        ("just output", None, ()),
        ("", None, ()),
    ],
)
def test_results_tell_success_by_exit_code_then_opening(text, ok, flags):
    for form in (text, text.encode()):
        step = result(form)
        assert (step.ok, step.flags, step.size) == (ok, flags, len(text))


def test_the_logs_own_flag_beats_the_text():
    assert result("Exit code 1", ok=True).ok is True
    assert result("fine", ok=False).ok is False


def test_the_same_error_has_the_same_key_whatever_its_numbers():
    a = result('Exit code 1\n  File "/var/x1/a.py", line 12\nTypeError: bad operand 17\n')
    b = result('Exit code 1\n  File "/var/y22/a.py", line 99\nTypeError: bad operand 3\n')
    c = result("Exit code 1\nKeyError: 'x'\n")
    assert a.error_key == b.error_key != c.error_key
    assert a.error_key and c.error_key
    assert result("all fine", ok=True).error_key == 0


def test_overload_and_network_are_marked_as_not_the_works_fault():
    assert "transient" in result('API Error: {"status":429}', ok=False).flags
    assert "transient" in result("fetch failed: ECONNRESET", ok=False).flags
    assert "transient" not in result("TypeError at line 429", ok=False).flags


@pytest.mark.parametrize(
    "text", ["ok", "Continue.", "yes, please", "weiter", "Ja!", "继续", "好的。", "続けて", "sí", "d'accord"]
)
def test_a_nod_is_an_ack(text):
    assert "ack" in said(text.replace(", ", " ")).flags


@pytest.mark.parametrize(
    "text",
    [
        "No, that's wrong",
        "this is still broken",
        "das stimmt nicht, schau noch mal",
        "Das funktioniert immer noch nicht",
        "不对，应该是另一个文件",
        "还是报错",
        "違います",
        "まだ動かないです",
        "no funciona",
        "eso no es lo que pedí",
        "non, ce n'est pas ça",
        "ça ne marche pas",
    ],
)
def test_corrections_in_six_languages(text):
    assert "correction" in said(text).flags


@pytest.mark.parametrize(
    "text",
    [
        "Next task: write the docs",
        "now add an exporter",
        "Als nächstes die Doku",
        "neue Aufgabe: Export",
        "接下来写文档",
        "现在把导出功能加上",
        "次は文書を書いて",
        "ahora escribe la documentación",
        "maintenant la documentation",
    ],
)
def test_openers_of_new_work_in_six_languages(text):
    flags = said(text).flags
    assert "new_task" in flags and "correction" not in flags


@pytest.mark.parametrize("text", ["Thanks!", "vielen Dank", "谢谢", "ありがとう", "gracias", "merci"])
def test_thanks_in_six_languages(text):
    assert "thanks" in said(text).flags


def test_plain_requests_carry_no_flag():
    assert said("Write a parser for the gateway export with CSV columns").flags == ()
    assert said("Bitte einen Parser für den Export schreiben").flags == ()
    assert said("写一个导出文件的解析器").flags == ()


def test_words_are_split_and_compared_without_case_or_glue():
    a = set(said("Fix parseUsage in cache_reader").words)
    b = set(said("the CACHE reader should parse usage").words)
    assert len(a & b) == 4  # parse, usage, cache, reader
    assert set(said("请修复缓存读取").words) & set(said("缓存读取有问题").words)
    assert not set(said("draw an empty diagram").words) & a


def test_paths_in_a_message_are_comparable_to_those_of_tools():
    assert call("Edit", {"file_path": "/home/u/shop/src/a.py"}).paths == said("fix src/a.py, e.g. the header").paths


def test_what_the_client_adds_is_not_read_as_the_users_words():
    plain = said("draw a diagram")
    dressed = said("<system-reminder>no, that's wrong, new task</system-reminder>draw a diagram")
    assert (dressed.words, dressed.flags, dressed.size) == (plain.words, plain.flags, plain.size)
    assert said("<system-reminder>x</system-reminder>").flags == ("meta",)
    assert said("[Request interrupted by user]").flags == ("interrupted", "meta")
    assert said("<local-command-stdout>Compacted</local-command-stdout>").flags == ("meta",)


def test_pasted_logs_do_not_speak_for_the_user():
    log = "\n".join(f"2026-01-01 10:00:0{n} ERROR that's wrong: not what i expected" for n in range(8))
    step = said("please look at the exporter\n" + log)
    assert step.flags == ("pasted",)
    flags = said("what is it?\n```\nno, that's wrong\n```").flags
    assert "anaphora" in flags and "correction" not in flags


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("/clear", ("slash", "clear")),
        ("/compact keep the tests", ("slash", "compact")),
        ("/new", ("slash", "new")),
        ("/init", ("slash", "init")),
        ("/review", ("slash",)),
        ("<command-name>/compact</command-name>\n<command-args></command-args>", ("slash", "compact")),
    ],
)
def test_slash_commands_are_commands(text, flags):
    step = said(text)
    assert (step.kind, step.flags, step.words) == ("command", flags, ())


def test_a_path_at_the_start_is_no_command():
    assert said("/home/u/a.py is broken").kind == "user"


def test_answer():
    step = steps.answer("s", "agent:1", 5, 9)
    assert (step.kind, step.chain, step.time, step.line) == ("answer", "agent:1", 5, 9)


SECRET = "Zebrafalke"


@pytest.mark.parametrize(
    "step",
    [
        call("Bash", {"command": f"echo {SECRET}"}),
        call("Edit", {"file_path": f"/x/{SECRET}.py", "old_string": SECRET}),
        result(f"Exit code 1\nError: {SECRET}"),
        said(f"fix the {SECRET} please"),
        said(f"/compact {SECRET}"),
    ],
)
def test_no_word_of_the_conversation_survives(step):
    assert SECRET.lower() not in json.dumps(msgspec.to_builtins(step)).lower()


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200), st.none(), st.dictionaries(st.text(), st.text())))
def test_odd_input_never_raises(value):
    assert call("Bash", value).kind == "tool_call"
    assert call("TodoWrite", value).kind == "tool_call"
    text = value if not isinstance(value, dict) else json.dumps(value)
    assert result(text).kind == "tool_result"
    assert said(text).kind in ("user", "command")


def test_a_cut_json_argument_is_taken_as_text():
    cut = call("Bash", b'{"command":"pytest -q')
    assert cut.category == "shell" and cut.key == call("Bash", '{"command":"pytest   -q').key
    assert call("Edit", [1, 2]).category == "edit"
    assert call("Bash", {"command": {"odd": [1]}}).category == "shell"
