"""``ctxmon compact`` as people use it: files, exit codes, reports, refusals."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from monitor import conversation
from monitor.cli import main
from monitor.compaction import runfile
from monitor.compaction.settings import KEYS
from monitor.conversation.rules import check
from tests.compaction.loopback import GOOD, Reply, chat, provider
from tests.compaction.stories import FORMATS, SUFFIX, Story, build, noise, say, user
from tests.compaction.story_data import STORIES

JA, EN = STORIES["inventory-batch-ja"], STORIES["rust-cli-en-de"]


@pytest.fixture(autouse=True)
def no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CTXMON_CONFIG_DIR", "XDG_CONFIG_HOME", "APPDATA", "HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "settings"))


def put(path: Path, fmt: str = "openai-chat", story: Any = JA) -> Path:
    target = path / f"chat{SUFFIX.get(fmt, '.json')}"
    target.write_bytes(build(story, fmt))
    return target


@pytest.mark.parametrize("fmt", FORMATS)
def test_same_format_beside_the_input(fmt: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path, fmt)
    before = source.read_bytes()
    assert main(["compact", str(source)]) == 0
    out = tmp_path / f"chat.compact{source.suffix}"
    assert source.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == sorted([source.name, out.name])
    conv = conversation.load(out)
    assert conv.format == fmt and check(conv) == []
    told = capsys.readouterr().out
    assert str(out) in told and "invented: nothing" in told and "rules broken: none" in told


def test_json_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path)
    out = tmp_path / "o.json"
    assert main(["compact", str(source), "-o", str(out), "--report", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "ctxmon.compaction/1"
    assert body["input"]["format"] == body["output"]["format"] == "openai-chat"
    assert body["output"]["path"] == str(out)
    assert body["ratio"] == round(body["output"]["tokens"] / body["input"]["tokens"], 4)
    assert (body["strategy"], body["summarizer"], body["kept_turns"], body["cost_usd"]) == (
        "summary",
        "offline",
        2,
        None,
    )
    assert set(body["sections"]) == {"goal", "progress", "facts", "decisions", "next_steps"}
    assert "関数名は今のまま維持してください。" in body["constraints"]
    assert body["retention"]["constraints"] == {
        "kept": len(body["constraints"]),
        "total": len(body["constraints"]),
        "lost": [],
    }
    assert body["invented"] == [] and body["violations"] == []
    assert all(p["answered"] for p in body["probe"] if p["class"] == "checks")


def test_exit_codes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path)
    assert main(["compact", str(tmp_path / "none.json")]) == 3
    (tmp_path / "junk.json").write_text("not json", encoding="utf-8")
    assert main(["compact", str(tmp_path / "junk.json")]) == 3
    (tmp_path / "empty.json").write_text("", encoding="utf-8")
    assert main(["compact", str(tmp_path / "empty.json")]) == 3
    (tmp_path / "sys.json").write_text('[{"role": "system", "content": "s"}]', encoding="utf-8")
    assert main(["compact", str(tmp_path / "sys.json")]) == 3
    assert main(["compact", str(source), "--keep-exchanges", "many"]) == 2
    assert main(["compact", str(source), "--strategy", "magic"]) == 2
    assert main(["compact", str(source), "--preset", "magic"]) == 2
    assert main(["compact", str(source), "--summarizer", "http://localhost:1"]) == 2
    assert main(["compact", str(source), "--config", str(tmp_path / "none.toml")]) == 2
    assert main(["compact", str(source), "--strategy", "remote"]) == 2
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert not list(tmp_path.glob("*.compact.json"))


def test_nothing_to_fold_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "short.json"
    source.write_text(
        '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]', encoding="utf-8"
    )
    assert main(["compact", str(source)]) == 0
    assert "nothing to fold" in capsys.readouterr().out
    assert os.listdir(tmp_path) == ["short.json"]


def test_overwriting_needs_force_and_the_input_is_safe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path)
    out = tmp_path / "o.json"
    out.write_text("mine", encoding="utf-8")
    assert main(["compact", str(source), "-o", str(out)]) == 2
    assert out.read_text(encoding="utf-8") == "mine"
    assert main(["compact", str(source), "-o", str(source), "--force"]) == 2
    assert main(["compact", str(source), "-o", str(out), "--force"]) == 0
    assert out.read_bytes() != b"mine"


def test_a_change_meanwhile_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path)
    real = runfile.read

    def read(path: str) -> Any:
        found = real(path)
        source.write_bytes(source.read_bytes() + b"\n")
        return found

    monkeypatch.setattr(runfile, "read", read)
    assert main(["compact", str(source)]) == 1
    assert "changed while it was compacted" in capsys.readouterr().err
    assert os.listdir(tmp_path) == [source.name]


def test_an_output_hardly_smaller_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps = [user("hi"), say("hello"), user("one"), say(noise(1, 100)), user("two")]
    source = put(tmp_path, story=Story("s", "s", steps, {}))
    assert main(["compact", str(source), "--keep-tokens", "1m"]) == 1
    assert "more than 90% of the input: not written" in capsys.readouterr().err
    assert os.listdir(tmp_path) == [source.name]


def test_stdout_and_quiet(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    source = put(tmp_path)
    assert main(["compact", str(source), "-o", "-", "-q"]) == 0
    out, err = capsysbinary.readouterr()
    assert conversation.load(out).format == "openai-chat" and err == b""


def test_compressed_input(tmp_path: Path) -> None:
    source = tmp_path / "chat.json.gz"
    source.write_bytes(gzip.compress(build(JA, "openai-chat")))
    assert main(["compact", str(source), "-q"]) == 0
    assert conversation.load(tmp_path / "chat.compact.json").format == "openai-chat"


@pytest.mark.parametrize("fmt", ["claude-code", "codex", "pi"])
def test_append_keeps_the_history(fmt: str, tmp_path: Path) -> None:
    source = put(tmp_path, fmt)
    out = tmp_path / "o.jsonl"
    assert main(["compact", str(source), "-o", str(out), "--append", "-q"]) == 0
    old, new = conversation.load(source), conversation.load(out)
    assert check(new) == []
    # token counts of before are left out of a Codex file: they would make Codex compact again
    assert len(new.lines) > len(old.lines)
    assert [x.raw for x in new.lines[: len(old.lines)]] == [x.raw for x in old.lines]
    assert any(m.is_summary for m in new.messages) and len(new.messages) < len(old.messages)


def test_dry_run_shows_both_requests_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "venue.json"
    source.write_bytes(build(STORIES["venue-research-en"], "anthropic"))
    line = [
        "compact",
        str(source),
        "--dry-run",
        "--summarizer",
        "https://api.anthropic.com",
        "--model",
        "claude-sonnet-4-5",
    ]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert "1. What the summarizer gets" in text and "2. What the next working call gets" in text
    assert main([*line, "--report", "json"]) == 0
    plan = json.loads(capsys.readouterr().out)["dry_run"]
    modes = plan["summary_call"]["modes"]
    assert modes["flat"]["possible"] and modes["cache"]["possible"]
    assert modes["cache"]["cached_tokens"] > 0 == modes["flat"]["cached_tokens"]
    assert modes["flat"]["cost_usd"] > 0
    assert plan["next_call"]["tokens"] == sum(plan["next_call"]["parts"].values()) < plan["before"]["tokens"]
    assert os.listdir(tmp_path) == ["venue.json"]


def test_a_model_writes_and_a_failure_is_loud_even_when_quiet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = put(tmp_path)
    with provider(chat(GOOD)) as made:
        assert main(["compact", str(source), "--summarizer", made.url, "--model", "m", "--report", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["summarizer"] == "m"
    with provider(Reply({}, 401)) as made:
        assert main(["compact", str(source), "--summarizer", made.url, "--model", "m", "--force", "-q"]) == 0
    err = capsys.readouterr().err
    assert "FAILED" in err and "offline summary was written instead" in err


def test_settings_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path)
    monkeypatch.setenv("MY_KEY", "k-9")
    config = tmp_path / "c.toml"
    with provider(chat(GOOD)) as made:
        config.write_text(
            f'[llm]\nbase_url = "{made.url}/v1/"\nsummary_model = "tiny"\napi_key_env = '
            f'"MY_KEY"\n[compact]\nkeep = 1\nprefix = "For reference:"\nsummary_tokens = 3000\n',
            encoding="utf-8",
        )
        assert main(["compact", str(source), "--config", str(config), "--report", "json"]) == 0
        assert made.seen[0][2]["model"] == "tiny" and made.seen[0][1]["authorization"] == "Bearer k-9"
        report = json.loads(capsys.readouterr().out)
        assert report["kept_turns"] == 1 and report["summarizer"] == "tiny"
        assert (
            main(
                [
                    "compact",
                    str(source),
                    "--config",
                    str(config),
                    "--keep-exchanges",
                    "2",
                    "--summarizer",
                    "offline",
                    "--force",
                    "--report",
                    "json",
                ]
            )
            == 0
        )
        assert json.loads(capsys.readouterr().out)["kept_turns"] == 2
        assert len(made.seen) == 1
    conv = conversation.load(tmp_path / "chat.compact.json")
    assert conv.messages[1].text.startswith("For reference:")
    config.write_text("[compact]\nkepp = 1\n", encoding="utf-8")
    assert main(["compact", str(source), "--config", str(config), "--force"]) == 2
    assert f"{config}, line 2: compact.kepp is not known; did you mean keep?" in capsys.readouterr().err


def test_help_names_every_option_and_setting(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compact", "--help"]) == 0
    text = capsys.readouterr().out
    for option in (
        "--keep-exchanges",
        "--keep-turns",
        "--keep-tokens",
        "--summarizer",
        "--model",
        "--strategy",
        "--preset",
        "--append",
        "--force",
        "--dry-run",
        "--report",
        "--to",
    ):
        assert option in text
    for keys in KEYS.values():
        for key in keys:
            assert key in text


def test_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path)
    assert main(["compact", str(source), "--strategy", "notes"]) == 0
    out = tmp_path / "chat.HANDOFF.md"
    assert out.read_text(encoding="utf-8").startswith("# Handoff: ")
    assert "Start the new window with:" in capsys.readouterr().out
    assert main(["compact", str(source), "--strategy", "notes,summary", "--force", "-q"]) == 0
    assert sorted(os.listdir(tmp_path)) == ["chat.HANDOFF.md", "chat.compact.json", "chat.json"]
    (tmp_path / "out").mkdir()
    small = tmp_path / "out" / "small.json"
    assert main(["compact", str(source), "-o", str(small), "--strategy", "notes,summary", "-q"]) == 0
    assert sorted(os.listdir(tmp_path / "out")) == ["chat.HANDOFF.md", "small.json"]  # both where the output was sent
    assert main(["compact", str(source), "--ask-agent"]) == 0
    assert "HANDOFF.md" in capsys.readouterr().out


def test_combined_strategies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = put(tmp_path, story=STORIES["cluster-move-fr"])
    sizes = {}
    for strategy in ("trim", "summary", "trim,summary"):
        assert (
            main(
                ["compact", str(source), "--strategy", strategy, "--keep-exchanges", "3", "--force", "--report", "json"]
            )
            == 0
        )
        sizes[strategy] = json.loads(capsys.readouterr().out)["output"]["tokens"]
    assert sizes["trim,summary"] <= sizes["summary"] < sizes["trim"]


@pytest.mark.parametrize("fmt", ["openai-chat", "anthropic", "claude-code", "codex", "pi"])
@pytest.mark.parametrize("target", ["openai-chat", "anthropic", "gemini"])
def test_conversion(fmt: str, target: str, tmp_path: Path) -> None:
    source = put(tmp_path, fmt, EN)
    out = tmp_path / "o.json"
    assert main(["compact", str(source), "--to", target, "-o", str(out), "-q"]) == 0
    conv = conversation.load(out, target)
    assert conv.format == target and check(conv) == []
    before = conversation.load(source)
    last = conv.last_user()
    assert last is not None and last.text == "Run clippy again."
    calls = [(c.name, c.arguments) for m in conv.messages for c in m.calls]
    assert calls == [(c.name, c.arguments) for m in before.messages for c in m.calls][-len(calls) :]


def test_conversion_that_would_lose_something_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = json.loads(build(EN, "responses"))
    body["input"].insert(2, {"type": "compaction", "id": "c", "encrypted_content": "gAAAA"})
    source = tmp_path / "r.json"
    source.write_text(json.dumps(body), encoding="utf-8")
    assert main(["compact", str(source), "--to", "openai-chat"]) == 2
    assert "only its provider can read" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["r.json"]


def test_notes_of_a_text_with_half_an_emoji(tmp_path: Path) -> None:
    source = tmp_path / "chat.json"
    source.write_text(
        json.dumps([{"role": "user", "content": "Fix \ud83d the parser."}, {"role": "assistant", "content": "ok"}])
    )
    assert main(["compact", str(source), "--strategy", "notes", "-o", str(tmp_path / "N.md"), "-q"]) == 0
    assert "the parser" in (tmp_path / "N.md").read_text(encoding="utf-8")
