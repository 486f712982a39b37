"""Decision tables as people write them: YAML (or JSON) with conditions in words, read into :class:`Table`.

Every mistake is a :class:`TableError` with file, line and what is expected there. The parser of YAML is imported here
only, as deciding by the built-in table does not need it.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import yaml

from monitor.decision.model import Action
from monitor.decision.specs import NUMERIC, SPECS, WORDS
from monitor.decision.table import (
    OPERATORS,
    Condition,
    Hysteresis,
    Quality,
    Rest,
    Row,
    Settings,
    Table,
    TableError,
    tests_of,
)

_ACTIONS = get_args(Action)
_NUMBER = re.compile(r"([-+]?\d[\d_,]*(?:\.\d+)?)\s*(%|k|K|M|s|min|h)?")
_SCALE = {"": 1.0, "%": 0.01, "k": 1e3, "K": 1e3, "M": 1e6, "s": 1.0, "min": 60.0, "h": 3600.0}
_COMPARISON = re.compile(r"(\w+)\s*([<>=!]+)\s*(.+)")
_KNOWN = re.compile(r"(\w+)\s+is\s+(known|unknown)")
_FLAG = re.compile(r"(?:(not)\s+)?(\w+)")
_PRODUCT = re.compile(r"(?:([\d.]+)\s*[*x×]\s*)?([A-Za-z_]\w*)")
_BRACE = re.compile(r"\{(\w*)\}?")
_ROW_KEYS = ("id", "title", "when", "action", "reasons", "next", "sticky", "source")


def load(path: Path) -> Table:
    """Read a table from a file.

    Raises:
        TableError: it cannot be opened or is no table; the text says what is expected.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TableError(str(path), None, f"cannot be opened ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise TableError(str(path), None, "expected UTF-8 text") from error
    return parse(text, str(path))


def parse(text: str, name: str = "table") -> Table:
    """Read a table from its text; ``name`` is the file's name in errors and in the answer."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise TableError(name, mark.line + 1 if mark else None, f"expected YAML ({error.problem})") from error
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise TableError(name, None, f"expected YAML ({type(error).__name__})") from error
    return _Reader(name).table(node)


class _Reader:
    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, node: Any, expected: str) -> TableError:
        return TableError(self.file, node.start_mark.line + 1 if node is not None else 1, expected)

    # -------------------------------------------------------------------------------------------- structure
    def mapping(self, node: Any, what: str) -> dict[str, Any]:
        if not isinstance(node, yaml.MappingNode):
            raise self.fail(node, f"expected {what}")
        out: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.fail(key, "expected a name before the colon")
            if key.value in out:
                raise self.fail(key, f'"{key.value}" stands twice')
            out[key.value] = value
        return out

    def text(self, node: Any, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self.fail(node, f"expected {what}")
        return str(node.value).strip()

    def table(self, node: Any) -> Table:
        top = self.mapping(node, 'a table with "rows:" (and perhaps "settings:")')
        for key, value in top.items():
            if key not in ("rows", "settings"):
                raise self.fail(value, f'"{key}" is not known here; expected "rows" or "settings"')
        rows = top.get("rows")
        if not isinstance(rows, yaml.SequenceNode) or not rows.value:
            raise self.fail(rows or node, 'expected "rows:" with a list of at least one row')
        settings = self.settings(top["settings"]) if "settings" in top else Settings()
        out: list[Row] = []
        for item in rows.value:
            row = self.row(item)
            if any(row.id == other.id for other in out):
                raise self.fail(item, f'the id "{row.id}" is used twice; each row needs its own')
            out.append(row)
        table = Table(rows=tuple(out), settings=settings, name=self.file)
        tests_of(table)
        return table

    def row(self, node: Any) -> Row:
        parts = self.mapping(node, 'a row: "id:", "when:", "action:", "reasons:"')
        for key, value in parts.items():
            if key not in _ROW_KEYS:
                raise self.fail(value, f'"{key}" is not known in a row; expected one of {", ".join(_ROW_KEYS)}')
        for key in ("id", "action"):
            if key not in parts:
                raise self.fail(node, f'a row needs "{key}:"')
        id = self.text(parts["id"], "a name for the row")
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", id):
            raise self.fail(parts["id"], "expected an id of letters, digits, dots and dashes")
        action = self.text(parts["action"], "an action")
        if action not in _ACTIONS:
            raise self.fail(
                parts["action"],
                f'"{action}" is no action{self.close(action, _ACTIONS)}; expected one of {", ".join(_ACTIONS)}',
            )
        sticky = self.text(parts["sticky"], "true or false") if "sticky" in parts else "false"
        if sticky not in ("true", "false"):
            raise self.fail(parts["sticky"], "expected true or false")
        return Row(
            id=id,
            title=self.text(parts["title"], "a title") if "title" in parts else id,
            action=action,  # type: ignore[arg-type]
            reasons=self.reasons(parts.get("reasons")),
            when=self.condition(parts["when"]) if "when" in parts else None,
            next=self.sentence(parts["next"]) if "next" in parts else "",
            sticky=sticky == "true",
            source=self.text(parts["source"], "where the rule comes from") if "source" in parts else "",
        )

    def reasons(self, node: Any) -> tuple[str, ...]:
        if node is None:
            return ()
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        return tuple(self.sentence(item) for item in items)

    def sentence(self, node: Any) -> str:
        text = self.text(node, "a sentence")
        for match in _BRACE.finditer(text):
            if not match.group(0).endswith("}"):
                raise self.fail(node, 'expected "}" behind the name of a signal')
            self.signal(match.group(1), node)
        return text

    # ------------------------------------------------------------------------------------------- conditions
    def condition(self, node: Any) -> Condition:
        if isinstance(node, yaml.SequenceNode):
            return self.group(node, "all")
        if isinstance(node, yaml.MappingNode):
            parts = self.mapping(node, "all: or any:")
            if len(parts) != 1 or next(iter(parts)) not in ("all", "any"):
                raise self.fail(node, 'expected either "all:" or "any:" with a list of conditions')
            kind, value = next(iter(parts.items()))
            if not isinstance(value, yaml.SequenceNode):
                raise self.fail(value, f'expected a list of conditions below "{kind}:"')
            return self.group(value, kind)
        if node is None or not isinstance(node, yaml.ScalarNode):
            raise self.fail(node, "expected a condition such as: fill >= 85%")
        return self.leaf(node)

    def group(self, node: Any, kind: str) -> Condition:
        parts = tuple(self.condition(item) for item in node.value)
        if not parts:
            raise self.fail(node, "expected at least one condition")
        return Condition(all=parts) if kind == "all" else Condition(any=parts)

    def leaf(self, node: Any) -> Condition:
        text = str(node.value).strip()
        if match := _KNOWN.fullmatch(text):
            return Condition(signal=self.signal(match.group(1), node), op=match.group(2))
        if match := _COMPARISON.fullmatch(text):
            return self.comparison(match.group(1), match.group(2), match.group(3).strip(), node)
        if match := _FLAG.fullmatch(text):
            name = self.signal(match.group(2), node)
            if SPECS[name].kind != "bool":
                raise self.fail(node, f'"{name}" is no yes/no signal; expected a comparison such as: {name} >= 1')
            return Condition(signal=name, op="not" if match.group(1) else "is")
        raise self.fail(node, f'"{text}" is no condition; expected for example: fill >= 85%, not loop, fill is unknown')

    def comparison(self, name: str, op: str, right: str, node: Any) -> Condition:
        kind = SPECS[self.signal(name, node)].kind
        if op == "=":
            op = "=="
        if op not in OPERATORS:
            raise self.fail(node, f'"{op}" is no comparison; expected one of {" ".join(OPERATORS)}')
        if kind == "word":
            if op not in ("==", "!="):
                raise self.fail(node, f'"{name}" is a word; expected == or !=')
            if right not in WORDS[name]:
                raise self.fail(node, f'"{right}" is no value of "{name}"; expected one of {", ".join(WORDS[name])}')
            return Condition(signal=name, op=op, value=right)
        if kind not in NUMERIC:
            raise self.fail(node, f'"{name}" cannot be compared with a number')
        number = _NUMBER.fullmatch(right)
        if number is not None:
            return Condition(signal=name, op=op, value=self.number(number, kind, node))
        product = _PRODUCT.fullmatch(right)
        if product is None:
            raise self.fail(
                node, f'"{right}": expected a number (85%, 60k) or a signal, such as 1.5 * break_even_calls'
            )
        other = self.signal(product.group(2), node)
        if SPECS[other].kind not in NUMERIC:
            raise self.fail(node, f'"{other}" cannot be compared with')
        if (SPECS[other].kind in ("share", "score")) != (kind in ("share", "score")):
            raise self.fail(node, f'"{name}" ({kind}) and "{other}" ({SPECS[other].kind}) are not of one kind')
        try:
            times = float(product.group(1) or 1)
        except ValueError:
            raise self.fail(node, f'"{product.group(1)}" is no number') from None
        return Condition(signal=name, op=op, other=other, times=times)

    def number(self, match: re.Match[str], kind: str, node: Any) -> float:
        unit = match.group(2) or ""
        if unit == "%" and kind not in ("share", "score"):
            raise self.fail(node, "a per cent value can only be compared with a share")
        if unit in ("min", "h", "s") and kind != "seconds":
            raise self.fail(node, f'the unit "{unit}" is for times only')
        value = float(match.group(1).replace(",", "").replace("_", "")) * _SCALE[unit]
        if kind == "share" and unit != "%" and value > 1.5:
            raise self.fail(node, f"expected a share: {match.group(1)}% or {value / 100:g}")
        return round(value, 6)

    def signal(self, name: str, node: Any) -> str:
        if name in SPECS:
            return name
        raise self.fail(
            node,
            f'"{name}" is no signal{self.close(name, SPECS)}; all of them are listed by ctxmon decide --explain',
        )

    @staticmethod
    def close(name: str, known: Any) -> str:
        near = difflib.get_close_matches(name, list(known), 1, 0.6)
        return f' (did you mean "{near[0]}"?)' if near else ""

    # --------------------------------------------------------------------------------------------- settings
    def settings(self, node: Any) -> Settings:
        out: dict[str, Any] = {}
        kinds: dict[str, type[msgspec.Struct]] = {
            "quality": Quality,
            "hysteresis": Hysteresis,
            "after_compaction": Rest,
        }
        for key, value in self.mapping(node, "settings").items():
            if key in kinds:
                out[key] = kinds[key](**self.fields(value, kinds[key]))
            else:
                out.update(self.field(key, value, Settings))
        return Settings(**out)

    def fields(self, node: Any, kind: type[msgspec.Struct]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key, value in self.mapping(node, "settings").items():
            if key == "models" and kind is Quality:
                out[key] = {name: self.pair(item) for name, item in self.mapping(value, "model: [soft, hard]").items()}
            else:
                out.update(self.field(key, value, kind))
        return out

    def field(self, key: str, node: Any, kind: type[msgspec.Struct]) -> dict[str, Any]:
        known = {f.name: f for f in msgspec.structs.fields(kind)}
        if key not in known:
            names = ", ".join(known)
            raise self.fail(node, f'"{key}" is no setting{self.close(key, known)}; expected one of {names}')
        whole = known[key].type is int
        text = self.text(node, "a number")
        match = _NUMBER.fullmatch(text)
        if match is None or (match.group(2) == "%" and whole):
            raise self.fail(node, f'"{text}": expected {"a whole number (4000 or 4k)" if whole else "a share (60%)"}')
        value = float(match.group(1).replace(",", "").replace("_", "")) * _SCALE[match.group(2) or ""]
        if value < 0:
            raise self.fail(node, "expected a number that is not negative")
        return {key: round(value) if whole else round(value, 6)}

    def pair(self, node: Any) -> tuple[int, int]:
        items = node.value if isinstance(node, yaml.SequenceNode) else []
        found = [_NUMBER.fullmatch(self.text(item, "a number")) for item in items]
        if len(found) != 2 or any(m is None or m.group(2) == "%" for m in found):
            raise self.fail(node, "expected [soft, hard] in tokens, such as [100k, 200k]")
        soft, hard = (round(float(m.group(1).replace(",", "")) * _SCALE[m.group(2) or ""]) for m in found if m)
        return soft, hard


def encode(table: Table) -> bytes:
    """The compiled form, one row a line, for ``monitor/data/decision.json``."""
    enc = msgspec.json.Encoder().encode
    rows = ",\n".join(enc(row).decode() for row in table.rows)
    head = f'"settings":{enc(table.settings).decode()}'
    return ("{" + head + ',\n"rows":[\n' + rows + "\n]}\n").encode()
