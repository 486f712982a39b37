"""How fast tokens are counted with the ranks that are shipped, and what loading them costs.

python benchmarks/tokens.py [--mb 4] [--json FILE]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.measure import Cost, tell
from benchmarks.trees import Maker

OTHER = {
    "Chinese": "压缩上下文窗口之前请先保存笔记然后继续修复登录页面的错误",
    "Russian": "перед сжатием контекста сохрани заметки и исправь ошибку на странице входа ",
    "base64": "",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mb", type=float, default=4, help="megabytes of each kind of text")
    parser.add_argument("--json", type=Path, help="write the figures here (- for stdout)")
    args = parser.parse_args()
    size = int(args.mb * 1_000_000)
    start = time.process_time()
    from monitor.conversation.tokens import count

    first = count("warm")
    costs = [Cost("load the ranks", round(time.process_time() - start, 4), 0.0, 0.0, 1, notes={"tokens": first})]
    make = Maker(3)
    pieces = [make.text(4_000) for _ in range(size // 4_000)]
    chooser = random.Random(3)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    texts = {"code": pieces}
    for name, phrase in OTHER.items():
        text = phrase * (4_000 // len(phrase)) if phrase else "".join(chooser.choice(letters) for _ in range(4_000))
        texts[name] = [text] * max(1, size // len(text.encode()))
    for name, parts in texts.items():
        length = sum(len(part.encode()) for part in parts)
        best, tokens = float("inf"), 0
        for _ in range(3):
            start = time.process_time()
            tokens = sum(count(part) for part in parts)
            best = min(best, time.process_time() - start)
        costs.append(
            Cost(name, round(best, 4), round(best, 4), 0.0, 3, round(length / 1e6 / best, 1), notes={"tokens": tokens})
        )
    tell(costs, args.json)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
