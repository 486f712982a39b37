"""A command-line tool in Rust, in English and German, with a former compaction that holds a token."""

from __future__ import annotations

from tests.compaction.stories import Call, Step, Story, noise, say, user

EN = Story(
    name="rust-cli-en-de",
    system="You are a coding agent. Be brief.",
    cwd="/home/mia/logsift",
    steps=[
        user(
            "logsift is our Rust CLI. Goal: stream gzip input instead of loading it whole, memory must stay "
            "below 64 MiB on a 3 GB file. "
            "Never change the exit codes. You must not add crates without asking me first. All public functions "
            "need doc comments. Don't touch benches/."
        ),
        say(
            "I'll look at the reader first.",
            Call("read", {"path": "src/reader.rs"}, "//! Line reader. Buffer 8192 bytes.\n" + noise(20, 140, "code")),
            Call("read", {"path": "Cargo.toml"}, '[package]\nname = "logsift"\nversion = "0.9.3"\n'),
        ),
        say(
            "",
            Call(
                "bash",
                {"command": "cargo test --all 2>&1 | tail -40"},
                noise(21, 30) + "\ntest result: ok. 112 passed; 0 failed; 0 ignored\n",
            ),
        ),
        say(
            "The reader calls read_to_end, so memory grows with the file. Two options: flate2's MultiGzDecoder "
            "over BufReader, or memmap. I recommend MultiGzDecoder because flate2 is already a dependency; "
            "memmap does not help with compressed data."
        ),
        user("Mach das. Bitte keine unsafe-Blöcke. And write the changelog entry in German."),
        say(
            "Switching to a streaming decoder.",
            Call(
                "edit",
                {"path": "src/reader.rs", "edits": [{"oldText": "read_to_end", "newText": "lines()"}]},
                "Successfully replaced 1 block(s) in src/reader.rs.",
            ),
            Call(
                "write",
                {"path": "src/stream.rs", "content": "//! Streaming\npub fn open() {}\n"},
                "Successfully wrote 40 bytes to src/stream.rs",
            ),
        ),
        say(
            "",
            Call(
                "bash",
                {"command": "cargo test --all"},
                noise(22, 30) + "\nerror[E0499]: cannot borrow `self.inner` as mutable more than once at a time\n --> "
                "src/stream.rs:52:9\nerror: could not compile `logsift` (lib) due to 1 previous error\n\nCommand "
                "exited with code 101",
                True,
            ),
        ),
        say(
            "The borrow must end before refill; split it into two scopes.",
            Call(
                "edit",
                {"path": "src/stream.rs", "edits": [{"oldText": "a", "newText": "b"}]},
                "Successfully replaced 1 block(s) in src/stream.rs.",
            ),
        ),
        say(
            "",
            Call(
                "bash",
                {"command": "cargo test --all"},
                noise(23, 30) + "\ntest result: ok. 118 passed; 0 failed; 0 ignored\n",
            ),
        ),
        Step(
            summary="## Goal\nStream gzip input in logsift.\n\n## Constraints & Preferences\n- do not change exit "
            "codes\n\n## Progress\n### Done\n- [x] streaming decoder\n\n### In Progress\n- [ ] measure "
            "memory\n\n## Critical Context\n- crates.io token for the release: cio9aQ72LmXx81TtRr0zz55KkPpWw\n"
        ),
        say(
            "",
            Call(
                "bash",
                {"command": "/usr/bin/time -v ./target/release/logsift big.gz"},
                noise(24, 400) + "\nMaximum resident set size (kbytes): 41832\nElapsed (wall clock) time: 0:19.44\n",
            ),
        ),
        say("Peak memory is 41832 kB on the 3 GB file, well below 64 MiB."),
        user(
            "Great. You can add the indicatif crate after all, I want a progress bar. From now on write the "
            "changelog in English instead. Do not print the bar when stdout is not a terminal."
        ),
        say(
            "",
            Call(
                "bash",
                {"command": "cargo add indicatif && cargo clippy -- -D warnings"},
                noise(25, 20)
                + "\nerror: this function has too many arguments (9/7)\n  --> src/bar.rs:14:1\n\nCommand exited with "
                "code 101",
                True,
            ),
        ),
        say(
            "clippy fails on src/bar.rs:14 (too many arguments). I tried a builder struct, but it did not help "
            "because clippy counts the constructor too; reverting that."
        ),
        user("Group the colours into one struct then."),
        say(
            "",
            Call(
                "edit",
                {"path": "src/bar.rs", "edits": [{"oldText": "a", "newText": "Colours"}]},
                "Successfully replaced 1 block(s) in src/bar.rs.",
            ),
            Call(
                "bash",
                {"command": "git commit -am 'Progress bar on terminals' && git push"},
                "[feat/stream 3fa9d27] Progress bar on terminals\n 3 files changed, 80 insertions(+)\n",
            ),
        ),
        say("Done, commit 3fa9d27. Still open: rerun clippy and write the changelog entry."),
        user("Run clippy again."),
    ],
    gold={
        "goal": [["logsift"], ["gzip"], ["64 MiB"]],
        "constraints": [
            {"text": "Never change the exit codes.", "active": True, "turn": 1},
            {"text": "You must not add crates without asking me first.", "active": True, "turn": 1},
            {"text": "All public functions need doc comments.", "active": True, "turn": 1},
            {"text": "Don't touch benches/.", "active": True, "turn": 1},
            {"text": "Bitte keine unsafe-Blöcke.", "active": True, "turn": 2},
            {"text": "write the changelog entry in German", "active": False, "turn": 2, "cancelled_turn": 3},
            {"text": "Do not print the bar when stdout is not a terminal.", "active": True, "turn": 3},
        ],
        "not_constraints": [],
        "files_modified": ["src/reader.rs", "src/bar.rs"],
        "files_created": ["src/stream.rs"],
        "files_read": ["Cargo.toml"],
        "checks": [
            {"command": "cargo test --all", "last": "passed"},
            {"command": "cargo clippy -- -D warnings", "last": "failed"},
        ],
        "errors": [
            {"key": "error[E0499]: cannot borrow `self.inner` as mutable more than once at a time", "resolved": True},
            {"key": "this function has too many arguments (9/7)", "resolved": False},
        ],
        "decisions": [
            {"key": ["MultiGzDecoder"], "why": ["already a dependency"]},
            {"key": ["builder struct"], "why": ["did not help", "counts the constructor"]},
        ],
        "facts": ["41832", "feat/stream"],
        "todos_open": [],
        "todos_done": [],
        "next": [["clippy"], ["changelog"]],
        "secrets": ["cio9aQ72LmXx81TtRr0zz55KkPpWw"],
        "commits": ["3fa9d27"],
    },
)
