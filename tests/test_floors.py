"""Files form floors: whoever is imported stands below. No circle of modules, however late or only for types."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import monitor

ROOT = Path(monitor.__file__).parent


def module_of(path: Path) -> str:
    parts = (ROOT.name, *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def named(tree: ast.AST, package: str) -> Iterator[tuple[int, str, str]]:
    """(line, module, name) of every import; the name is empty where the module itself is meant."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((node.lineno, module, alias.name) for alias in node.names)


def imports_of(sources: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, int]]:
    """module -> {module it imports: line}, from {module: (its package, its text)}.

    All imports count: inside functions and under TYPE_CHECKING as well. That a module's package runs first does not.
    """
    found: dict[str, dict[str, int]] = {}
    for module, (package, text) in sources.items():
        seen = found[module] = {}
        for line, other, name in named(ast.parse(text), package):
            target = f"{other}.{name}" if name and f"{other}.{name}" in sources else other
            if target in sources and target != module:
                seen.setdefault(target, line)
    return found


def circles(imports: Mapping[str, Mapping[str, int]]) -> list[list[str]]:
    """The strongly connected components of more than one module: sets in which each leads to each."""
    reached: dict[str, set[str]] = {}
    for module in imports:
        seen = reached[module] = set()
        todo = list(imports[module])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += imports[one]
    found = {frozenset(o for o in reached[m] if m in reached[o]) for m in imports if m in reached[m]}
    return sorted(sorted(circle) for circle in found)


def test_no_modules_import_each_other() -> None:
    sources = {}
    for path in ROOT.rglob("*.py"):
        module = module_of(path)
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        sources[module] = (package, path.read_text("utf-8"))
    assert len(sources) > 300
    imports = imports_of(sources)
    told = [
        f"{module}, line {line}, imports {other}"
        for circle in circles(imports)
        for module in circle
        for other, line in imports[module].items()
        if other in circle
    ]
    assert not told, "a circle of modules: move down what both need, or turn one import round\n" + "\n".join(told)


def test_every_way_to_import_is_seen() -> None:
    late = "def f():\n    from p import b\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.q.c import C\n"
    sources = {
        "p": ("p", ""),
        "p.a": ("p", late),
        "p.b": ("p", typed),
        "p.q": ("p.q", "from . import c\n"),
        "p.q.c": ("p.q", "import os\nimport p.d\n"),
        "p.d": ("p", "from .a import f\nfrom json import loads\n"),
        "p.e": ("p", "from p.a import f\n"),
    }
    imports = imports_of(sources)
    assert imports == {
        "p": {},
        "p.a": {"p.b": 2},
        "p.b": {"p.q.c": 3},
        "p.q": {"p.q.c": 1},
        "p.q.c": {"p.d": 2},
        "p.d": {"p.a": 1},
        "p.e": {"p.a": 1},
    }
    assert circles(imports) == [["p.a", "p.b", "p.d", "p.q.c"]]  # p.q and p.e lead into it, nothing leads back
    del imports["p.d"]["p.a"]
    assert circles(imports) == []
