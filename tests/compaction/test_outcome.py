"""Results: did it work, and the exact words of what went wrong, in the output of many tools."""

from __future__ import annotations

import pytest

from monitor.compaction.outcome import Problem, clean, failures, judge, problems, raised
from monitor.compaction.wrapping import body


@pytest.mark.parametrize(
    ("text", "marked", "status"),
    [
        ("exit code: 1\nsomething", False, "failed"),
        ("ok\n[exit code 0]", False, "passed"),
        ("Exit code 2\nboom", True, "failed"),
        ("x\nProcess exited with code 0", False, "passed"),
        ('{"output":"3 failed, 2 passed","metadata":{"exit_code":1}}', False, "failed"),
        ("==== 84 passed in 1.2s ====", False, "passed"),
        ("==== 1 failed, 83 passed in 1.2s ====", False, "failed"),
        ("test result: ok. 118 passed; 0 failed; 0 ignored", False, "passed"),
        ("Tests: 2 failed, 10 passed, 12 total", False, "failed"),
        ("Found 3 errors in 2 files (checked 9 source files)", False, "failed"),
        ("Success: no issues found in 9 source files", False, "passed"),
        ("All checks passed!", False, "passed"),
        ("2 problems (2 errors, 0 warnings)", False, "failed"),
        ("Summary: 96 resources found, 0 invalid", False, "passed"),
        ("Plan ok\n[INFO] BUILD FAILURE", False, "failed"),
        ("    Finished `dev` profile [unoptimized + debuginfo] target(s) in 4.71s", False, "passed"),
        ("Success! The configuration is valid.", False, "passed"),
        ("queue.go:41:6: func `drain` is unused (unused)\n1 issues", False, "failed"),
        ("  1) [webkit] e2e/cart.spec.ts:31\n    Error: full\n  1 failed\n  8 passed (41.2s)", False, "failed"),
        ("  12 passing (3s)\n  1 pending\n  2 failing\n\n  1) adds", False, "failed"),
        ("  9 passed (12.0s)", False, "passed"),
        (" [OK] No errors", False, "passed"),
        (" [ERROR] Found 2 errors", False, "failed"),
        ("dist/index.js  171.02 kB\n✓ built in 6.12s", False, "passed"),
        ("Command: make\nDirectory: (root)\nOutput: 3 failed\nError: (none)\nExit Code: 1", False, "failed"),
        ("vertrag: 12,40 EUR = Referenz\nOK: alle Summen stimmen", False, "passed"),
        ("fertig: 183.402 Zeilen, 0 Fehler", False, "passed"),
        ("fertig: 183.402 Zeilen, 3 Fehler", False, "failed"),
        ("Differenz: 0,00 EUR\nCUADRA: OK", False, "passed"),
        ("Mismatch in article 9\n1 mismatch", False, "failed"),
        ("97% tests passed, 1 tests failed out of 34", False, "failed"),
        ("100% tests passed, 0 tests failed out of 34", False, "passed"),
        ("main-ci\tpass\t14m\te2e\ne2e-portal\tfail\t9m12s\thttps://ci.example/9", False, "failed"),
        (
            "Command: a && \\\n b\nDirectory: (root)\nStdout: 3 failed\nStderr: (empty)\nError: (none)\nExit Code: 0\n"
            "Signal: (none)\nBackground PIDs: (none)\nProcess Group PGID: 77",
            False,
            "passed",
        ),
        ("Command: a\nDirectory: (root)\nStdout: ok\nStderr: (empty)\nError: (none)\nExit Code: 2", False, "failed"),
        ("== [models/a.sql] FAIL\nL:  42 | P:   5 | LT02 | Expected indent.\nAll Finished!", False, "failed"),
        ("== [models/a.sql] FAIL\nL:   4 | LT02\n== [models/b.sql] PASS\nAll Finished!", False, "failed"),
        ("black....................Failed\n- hook id: black\nmypy....................Passed", False, "failed"),
        ("black....................Passed\nmypy....................Passed", False, "passed"),
        ("Tests: FAIL", False, "failed"),
        # what clients write around an output
        ("Command executed in terminal  within working directory '/x'. Exit code: 0\nOutput:\na", False, "passed"),
        ("Command execution was not successful.\nExit code: 1\nOutput:\na", False, "failed"),
        ("Command failed with exit code 1.\nOutput:\na", False, "failed"),
        ("a\nCommand failed with exit code: 2.", False, "failed"),
        ("The command failed with exit code: 1\nOutput: a", False, "failed"),
        ("a\n[The command completed with exit code 1.]\n[Current working directory: /w]", False, "failed"),
        ("a\n[The command completed with exit code 0.]\n[Current working directory: /w]", False, "passed"),
        ('{"output":"a","exitCode":1}', False, "failed"),
        ('{"output":"a","exitCode":0}', False, "passed"),
        (
            "a\n<bash_metadata>\nbash tool terminated command after exceeding timeout 9 ms\n</bash_metadata>",
            False,
            "failed",
        ),
        # "failed" without a number in front of it
        ("Deployment failed", False, "failed"),
        ("2 tests failed, 30 passed", False, "failed"),
        ("Prüfung fehlgeschlagen", False, "failed"),
        ("30 passed, 0 tests failed", False, "passed"),
        ("Passed: 12, Failed: 0", False, "passed"),
        ("no checks failed", False, "passed"),
        ("All tests that failed before are now passing: 4 passed", False, "passed"),
        ("hello", False, "unknown"),
    ],
)
def test_status(text: str, marked: bool, status: str) -> None:
    assert judge(text, marked).status == status


def test_a_pipe_hides_the_exit_code() -> None:
    text = "1 failed, 3 passed in 0.2s\nexit code: 0"
    assert judge(text, False, piped=True).status == "failed"
    assert judge(text, False).status == "passed"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "E       AssertionError: assert 1998 == 1999\ntests/test_a.py:61: AssertionError",
            "AssertionError: assert 1998 == 1999",
        ),
        (
            "2026-10-05T03:20:54.372Z ERROR ledger[311] psycopg.errors.LockNotAvailable: lock timeout",
            "psycopg.errors.LockNotAvailable: lock timeout",
        ),
        (
            "src/x.ts(4,2): error TS2345: Argument of type 'string' is wrong.",
            "error TS2345: Argument of type 'string' is wrong.",
        ),
        ("error[E0499]: cannot borrow `x` as mutable\n --> src/a.rs:5:9", "error[E0499]: cannot borrow `x` as mutable"),
        ("src/A.tsx\n  88:14  error  Literal text 'x' must use t()  i18n/no-literal", "Literal text 'x' must use t()"),
        (
            'Error from server (Forbidden): pods "a" is forbidden',
            'Error from server (Forbidden): pods "a" is forbidden',
        ),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("panic: runtime error: index out of range", "panic: runtime error: index out of range"),
        ("bash: foo: command not found", "bash: foo: command not found"),
        (
            "redis.exceptions.TimeoutError: Timeout reading from h:6379",
            "redis.exceptions.TimeoutError: Timeout reading from h:6379",
        ),
    ],
)
def test_errors_in_exact_words(text: str, found: str) -> None:
    assert any(found in p.text for p in problems(f"some noise\n{text}\nmore noise", True))


def test_place_of_an_error() -> None:
    text = "2026-10-05T03:20:54Z ERROR a[1] app.errors.Stale: twice\n2026-10-05T03:20:54Z ERROR a[1]   at src/pay/ledger.py:57 in book\n"
    assert [(p.text, p.place) for p in problems(text, False)] == [("app.errors.Stale: twice", "src/pay/ledger.py:57")]


def test_output_without_errors_has_none() -> None:
    text = "10 passed\n0 errors\nno failures\nINFO retrying upstream=load\nclass FooError(Exception):\n    pass\n"
    assert problems(text, False) == []


def test_colours_and_progress_bars_are_taken_out() -> None:
    assert clean("\x1b[31mred\x1b[0m\n10%\r50%\r100%\n") == "red\n100%\n"


def test_complaints_without_a_verdict() -> None:
    text = "sender.go:73:14: cannot use p as Provider value: missing method Name"
    assert judge(text, False, checks=True).status == "failed"
    assert judge(text, False).status == "unknown"  # grep prints such lines too
    assert judge("sender.go:73:14: warning: p is long", False, checks=True).status == "unknown"
    assert judge("noise\nError: creating VPC: VpcLimitExceeded", False, acts=True).status == "failed"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "--- FAIL: TestSoak (61.20s)\n    soak_test.go:88: heap grew to 1213 MiB\nFAIL",
            "soak_test.go:88: heap grew to 1213 MiB",
        ),
        ("* What went wrong:\nExecution failed.\n> Missing class com.x.Legacy\n* Try:", "Missing class com.x.Legacy"),
        ("  Expected: 'En attente'\n  Actual: 'PENDING'", "Expected: 'En attente'"),
        (
            'Error: Unsupported attribute\n\n  on main.tf line 31:\nThis object has no attribute named "nat".',
            'This object has no attribute named "nat".',
        ),
        ("! Undefined control sequence.\nl.88 \\degreee", "Undefined control sequence."),
    ],
)
def test_errors_as_runners_word_them(text: str, found: str) -> None:
    assert found in [p.text for p in problems(text, True)]


def test_a_crash_in_a_log_is_an_error() -> None:
    line = "Fatal error: Unexpectedly found nil: file Boot.swift, line 73"
    assert line in [p.text for p in problems(f"10:00:01 INFO up\n{line}", False)]


def test_an_exception_at_the_end_of_an_interpreters_output() -> None:
    assert raised("rows 12\nValueError: bad date '15.10.2026'") == "ValueError: bad date '15.10.2026'"
    assert raised("ValueError: told and handled\nrows 12") == ""


def test_a_linter_that_names_its_rule_above_the_place() -> None:
    text = (
        "yaml[truthy]: Truthy value should be one of [false, true]\nroles/tls/tasks/main.yml:31\nFailed: 2 failure(s)"
    )
    found = problems(text, True)[0]
    assert (found.text, found.place) == (
        "Truthy value should be one of [false, true]",
        "roles/tls/tasks/main.yml:31",
    )


def test_a_verdict_without_a_count() -> None:
    stopped = "src/a.c:8:5: error: implicit declaration of function 'park'\nninja: build stopped: subcommand failed."
    assert judge(stopped, False, checks=True).status == "failed"
    assert judge("1 chart(s) linted, 0 chart(s) failed", False, checks=True).status == "passed"
    assert judge("retrying the request that failed", False).status == "passed"  # nothing was checked


def test_what_gemini_cli_writes_around_an_output_is_none_of_it() -> None:
    text = "Command: ls\nDirectory: (root)\nStdout: a\nb\nStderr: oh\nError: (none)\nExit Code: 2\nSignal: (none)"
    assert body(text) == ("a\nb\noh", 2)
    # empty parts are left out, an error of the shell itself is not
    text = "Command: x\nDirectory: /\nStdout: (empty)\nStderr: (empty)\nError: spawn x ENOENT\nExit Code: (none)"
    assert body(text) == ("spawn x ENOENT", None)
    # a command of several lines, and the newer shape without exit code
    assert body("Command: cat <<E\nx\nE\nDirectory: (root)\nOutput: hi\nProcess Group PGID: 5") == ("hi", None)
    assert problems(text.replace("spawn x ENOENT", "(none)"), failed=True) == []


def test_the_line_with_the_exit_code_is_no_error_text() -> None:
    assert problems("a\n[The command completed with exit code 1.]", failed=True) == []
    assert problems("Command failed with exit code 1.\nOutput:\nld: cannot find -lfoo", failed=True) == [
        Problem("ld: cannot find -lfoo")
    ]


def test_a_calm_line_of_a_log_is_no_error() -> None:
    text = "10:00:01 DEBUG cache[4] lookup of 12 keys\n7 parcels sent, 2 held back at customs"
    assert problems(text, True) == [Problem("7 parcels sent, 2 held back at customs")]


def test_how_many_checks_failed() -> None:
    assert failures("2 failed, 9 passed in 1.20s") == 2
    assert failures("FAILED (failures=3)") == 3
    assert failures("9 passed") is None


def test_an_exception_of_a_module_is_told_without_the_mark_of_the_runner() -> None:
    text = "test_x FAILED\nE   shop.errors.StockGone: none left of 7\n=== 1 failed in 0.10s ==="
    assert problems(text, True) == [Problem("shop.errors.StockGone: none left of 7")]
