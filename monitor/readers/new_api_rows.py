"""Rows of one-api and new-api logs in their many spellings, brought to one shape (for ``new_api``)."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Struct

from monitor.readers import gateway_values as values
from monitor.readers import usage
from monitor.readers.patterns import lazy

CONSUME, ERROR = 2, 5
Count = Annotated[int, msgspec.Meta(ge=0)] | None


class Admin(Struct, gc=False):
    """What only administrators see of ``other``."""

    local_count_tokens: bool | None = None


class Other(Struct, gc=False):
    """What ``other`` tells, a JSON text in most versions."""

    cache_tokens: Count = None
    cache_creation_tokens: Count = None
    cache_creation_tokens_5m: Count = None
    cache_creation_tokens_1h: Count = None
    cache_write_tokens: Count = None
    input_tokens_total: Count = None
    usage_semantic: str | None = None
    claude: bool | None = None
    request_path: str | None = None
    admin_info: Admin | None = None


class LogRow(Struct, gc=False):
    """One row of ``logs``; names as in the JSON of the gateways. Rows of other types are brought to these first."""

    created_at: int | None = None
    type: int | None = None
    id: int | str | None = None
    username: str | None = None
    token_name: str | None = None
    model_name: str | None = None
    quota: int | float | str | None = None
    prompt_tokens: Count = None
    completion_tokens: Count = None
    use_time: int | float | None = None
    elapsed_time: int | float | None = None
    request_id: str | None = None
    group: str | None = None
    other: str | Other | None = None


_other = msgspec.json.Decoder(Other).decode
NO_OTHER = Other()


def other_of(value: str | Other | None) -> Other:
    """``other`` in any of its forms: JSON text, object, "", "null"; what cannot be read counts as absent."""
    if isinstance(value, Other):
        return value
    if not value or value[0] != "{":
        return NO_OTHER
    try:
        return _other(value)
    except (msgspec.DecodeError, RecursionError):
        return lenient_other(values.as_object(value))


def lenient_other(found: dict[str, Any]) -> Other:
    """``other`` with values of odd types: numbers as text are taken, nonsense counts as absent."""
    admin = found.get("admin_info")
    local = admin.get("local_count_tokens") if isinstance(admin, dict) else None
    count = usage.count
    return Other(
        cache_tokens=count(found.get("cache_tokens")),
        cache_creation_tokens=count(found.get("cache_creation_tokens")),
        cache_creation_tokens_5m=count(found.get("cache_creation_tokens_5m")),
        cache_creation_tokens_1h=count(found.get("cache_creation_tokens_1h")),
        cache_write_tokens=count(found.get("cache_write_tokens")),
        input_tokens_total=count(found.get("input_tokens_total")),
        usage_semantic=values.text(found.get("usage_semantic")),
        claude=values.truth(found.get("claude")),
        request_path=values.text(found.get("request_path")),
        admin_info=Admin(values.truth(local)),
    )


def lenient_row(found: dict[str, Any]) -> LogRow:
    """A row with values of odd types, as :func:`lenient_other`."""
    time = values.time_ms(found.get("created_at"))
    other, quota, id = found.get("other"), found.get("quota"), found.get("id")
    return LogRow(
        created_at=time,
        type=usage.count(found.get("type")),
        id=id if isinstance(id, int | str) else None,
        username=values.text(found.get("username")),
        token_name=values.text(found.get("token_name")),
        model_name=values.text(found.get("model_name")),
        quota=values.number(quota),
        prompt_tokens=usage.count(found.get("prompt_tokens")),
        completion_tokens=usage.count(found.get("completion_tokens")),
        use_time=values.number(found.get("use_time")),
        elapsed_time=values.number(found.get("elapsed_time")),
        request_id=values.text(found.get("request_id")),
        group=values.text(found.get("group")),
        other=lenient_other(other) if isinstance(other, dict) else other if isinstance(other, str) else None,
    )


# --- column names ----------------------------------------------------------------------------------------------------
_NAMES = {
    "created_at": "time created_at createdat timestamp 时间 创建时间 日期 调用时间 请求时间",
    "unix": "created_at(unix) createdat(unix) unix unixtime 时间戳",
    "type": "type log_type 类型 日志类型",
    "username": "user username 用户 用户名",
    "token_name": "token token_name tokenname 令牌 令牌名称 密钥 key apikey",
    "model_name": "model model_name modelname 模型 模型名称",
    "group": "group 分组",
    "use_time": "timing use_time usetime duration 用时 用时/首字 耗时",
    "elapsed_time": "elapsed_time elapsedtime",
    "prompt_tokens": "input prompt prompt_tokens input_tokens 提示 输入 提示词",
    "completion_tokens": "output completion completion_tokens output_tokens 补全 输出",
    "quota": "cost quota 花费 费用 消耗 金额 额度",
    "cache_tokens": "cache cacheread cached 缓存 缓存读取 缓存读 命中缓存",
    "cache_creation_tokens": "cachecreation cachewrite 缓存创建 缓存写入 缓存写",
    "cache_creation_tokens_5m": "5mcachecreation cachecreation5m 5m缓存创建 缓存创建5m",
    "cache_creation_tokens_1h": "1hcachecreation cachecreation1h 1h缓存创建 缓存创建1h",
    "request_id": "requestid request_id 请求id",
    "id": "id",
    "other": "otherjson other",
    "channel": "channel channel_id channelid 渠道 渠道id 渠道名称",
    "details": "details content 详情",
}
_ALIASES = {word.replace("_", ""): name for name, words in _NAMES.items() for word in words.split()}
_TYPES = {
    "consume": 2,
    "consumption": 2,
    "消费": 2,
    "error": 5,
    "错误": 5,
    "失败": 5,
    "topup": 1,
    "充值": 1,
    "manage": 3,
    "管理": 3,
    "system": 4,
    "系统": 4,
    "refund": 6,
    "退款": 6,
    "login": 7,
    "登录": 7,
}
_SQUEEZE = lazy(r"[\s\-_]+|（.*?）|\(s\)|\(ms\)")
_TOKENS = lazy(r"tokens?数?|数量?$")


def canonical(column: str) -> str | None:
    """The name of a column of ``logs`` for a header in English or Chinese; None for a column of no use here."""
    word = _SQUEEZE.sub("", column.strip().lower())
    return _ALIASES.get(word) or _ALIASES.get(_TOKENS.sub("", word))


def from_table(row: dict[str, Any], names: dict[str, str | None]) -> LogRow:
    """A row of a CSV or XLSX table as a log row; ``names`` caches what each column is."""
    cells: dict[str, Any] = {}
    for column, value in row.items():
        if value is None or value == "":
            continue
        if column not in names:
            names[column] = canonical(column)
        name = names[column]
        if name is not None:
            cells.setdefault(name, value)
    word = str(cells.get("type", "consume")).strip().lower()
    other = values.as_object(cells.get("other"))
    other.update({name: cells[name] for name in _CACHE_CELLS if name in cells})
    units = any(column.lower() == "quota" for column in row)  # a dump of the table; exports hold dollars
    quota = values.number(cells.get("quota")) if units else cells.get("quota")
    found = lenient_row({**cells, "created_at": cells.get("unix", cells.get("created_at")), "other": other})
    found.type = _TYPES.get(word, usage.count(word))
    found.quota = quota if units or quota is None else str(quota)
    return found


_CACHE_CELLS = ("cache_tokens", "cache_creation_tokens", "cache_creation_tokens_5m", "cache_creation_tokens_1h")
