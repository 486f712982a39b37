"""Command lines: what they are for, which files they touch, and which runs of a check are the same check."""

from __future__ import annotations

import pytest

from monitor.compaction.shell import covers, parse


@pytest.mark.parametrize(
    ("command", "text", "use"),
    [
        ("cd /srv/app && pytest tests/unit -v 2>&1 | tail -40", "pytest tests/unit -v", "check"),
        (
            "helm template deploy/redis | kubeconform -strict",
            "helm template deploy/redis | kubeconform -strict",
            "check",
        ),
        ("npm run lint:flags", "npm run lint:flags", "check"),
        ("swiftlint --strict", "swiftlint --strict", "check"),
        ("tflint --chdir=infra", "tflint --chdir=infra", "check"),
        ("sqlfluff fix models", "sqlfluff fix models", "check"),
        (
            "python -m pipelines.backfill --day 2026-09-28 --dry-run",
            "python -m pipelines.backfill --day 2026-09-28 --dry-run",
            "check",
        ),
        ("FOO=1 timeout 60 cargo test --all", "FOO=1 timeout 60 cargo test --all", "check"),
        ("kubectl --context x delete pod web-1", "kubectl --context x delete pod web-1", "act"),
        ("kubectl get pods -n web", "kubectl get pods -n web", "look"),
        ("ssh host 'journalctl -u app | tail'", "ssh host 'journalctl -u app | tail'", "look"),
        ("scripts/deploy.sh staging", "scripts/deploy.sh staging", "act"),
        ("curl -s http://x/y", "curl -s http://x/y", "look"),
        ("curl -X POST http://x/y -d 1", "curl -X POST http://x/y -d 1", "act"),
        ("grep -rn pytest src | head", "grep -rn pytest src", "look"),
    ],
)
def test_what_a_line_is_for(command: str, text: str, use: str) -> None:
    main = parse(command).main
    assert main is not None
    assert (main.text, main.use) == (text, use)


def test_quotes_are_not_cut() -> None:
    line = parse("git commit -m 'a && b; c' && git push")
    assert [(p.text, p.use) for p in line.parts] == [("git commit -m 'a && b; c'", "commit"), ("git push", "push")]
    assert line.chained
    assert not parse("a; b").chained


@pytest.mark.parametrize(
    ("command", "read", "written", "deleted"),
    [
        ("cat src/a.py docs/b.md", ("src/a.py", "docs/b.md"), (), ()),
        ("sed -n 1,40p src/a.py", ("src/a.py",), (), ()),
        ("echo x > out/report.txt", (), ("out/report.txt",), ()),
        ("git rm -f old/a.py; rm -f old/b.py", (), (), ("old/a.py", "old/b.py")),
        ("pytest > /dev/null 2>&1", (), (), ()),
        ("echo .env >> .gitignore", (), (".gitignore",), ()),
        ("cat > Dockerfile <<'EOF'\nRUN a -> b.c\nEOF", (), ("Dockerfile",), ()),
        ("printf x | tee completions/_tool", (), ("completions/_tool",), ()),
        ("awk '$3 > 5.5' a.txt", (), (), ()),
        ('echo x > "out/x.md"', (), ("out/x.md",), ()),
        ("cat > notes.md <<'EOF'\nrm -rf src/x.py\nEOF", (), ("notes.md",), ()),
    ],
)
def test_files(command: str, read: tuple[str, ...], written: tuple[str, ...], deleted: tuple[str, ...]) -> None:
    line = parse(command)
    assert (line.read, line.written, line.deleted) == (read, written, deleted)


@pytest.mark.parametrize(
    ("later", "earlier", "same"),
    [
        ("pytest", "pytest tests/a.py", True),
        ("pytest -q tests", "pytest tests -v", True),
        ("pytest tests", "pytest tests/unit/test_a.py::test_x", True),
        ("pytest tests/a.py", "pytest", False),
        ("npx vitest run src", "npx eslint src", False),
        ("pytest -k fast", "pytest", False),
        ("python run.py --day 1", "python run.py --day 2", False),
    ],
)
def test_a_wider_pass_covers_a_narrower_failure(later: str, earlier: str, same: bool) -> None:
    assert covers(later, earlier) is same


def test_unclosed_quotes_do_no_harm() -> None:
    assert parse("echo 'unclosed && rm -rf x").parts
    assert parse("").main is None


def test_a_here_document_that_names_its_file_behind_the_mark() -> None:
    line = parse("cat <<'EOF' > charts/rule.yaml\nkind: Rule\nrm -rf /\nEOF\nsed -i 's/a/b/' charts/values.yaml")
    assert line.written == ("charts/rule.yaml",) and line.deleted == ()
    assert line.edited == ("charts/values.yaml",)  # it was there before


def test_a_database_client_that_runs_a_script_acts() -> None:
    assert parse("psql -h db -f scripts/fill.sql").main.use == "act"  # type: ignore[union-attr]
    assert parse("psql -h db -c 'select 1'").main.use == "look"  # type: ignore[union-attr]


def test_how_often_a_check_runs_says_nothing_of_what_it_checks() -> None:
    assert covers("bazel test //libs/tz:t --runs_per_test=200", "bazel test //libs/tz:t --runs_per_test=20 --seed=4")
    assert not covers("bazel test //libs/tz:t --seed=5", "bazel test //libs/tz:t --seed=4")
