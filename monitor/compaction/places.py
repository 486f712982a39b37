"""Paths of a conversation under one folder, so that each file is named once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from monitor.compaction.state import FileUse
from monitor.conversation.model import Conversation


def relative(files: dict[str, FileUse], conv: Conversation) -> tuple[str, dict[str, FileUse]]:
    """(common folder, the files relative to it); absolute and relative spellings of one file become one."""
    absolute = [p for p in files if p.startswith("/") or re.match(r"[A-Za-z]:[\\/]", p)]
    root = _folder(conv, absolute, files)
    if not root:
        return "", dict(files)
    out: dict[str, FileUse] = {}
    rank = {"read": 0, "modified": 1, "created": 2, "deleted": 3}
    for path, use in files.items():
        short = path[len(root) :].lstrip("/\\") if path.startswith(root) else path
        old = out.get(short)
        out[short] = use if old is None or rank[use] > rank[old] else old
    return root.rstrip("/\\"), out


def _folder(conv: Conversation, absolute: list[str], files: Iterable[str]) -> str:
    """The working folder the file names, else the folder all absolute paths share."""
    if not absolute:
        return ""
    named = next(
        (
            x.obj.get("cwd") or (x.obj.get("payload") or {}).get("cwd")
            for x in conv.lines
            if x.obj and (x.obj.get("cwd") or (isinstance(x.obj.get("payload"), dict) and x.obj["payload"].get("cwd")))
        ),
        None,
    )
    if isinstance(named, str) and any(p.startswith(named.rstrip("/") + "/") for p in absolute):
        return named.rstrip("/") + "/"
    for path in absolute:  # "/w/shop/a.ts" is also called "shop/a.ts": the folder is /w
        for other in files:
            if "/" in other and not other.startswith(("/", ".")) and path.endswith("/" + other):
                root = path[: -len(other)]
                if root.count("/") >= 2 and all(p.startswith(root) for p in absolute):
                    return root
    if len(absolute) < 2:
        return ""
    try:
        common = os.path.commonpath(absolute)
    except ValueError:
        return ""
    if common in absolute or any("/" not in p[len(common) :].lstrip("/") for p in absolute):
        common = os.path.dirname(common)  # so that no file loses the folder it is known by: "app/build.gradle"
    return common + "/" if common.count("/") >= 2 and all(p.startswith(common + "/") for p in absolute) else ""
