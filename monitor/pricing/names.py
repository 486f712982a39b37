"""What a logged model name means: vendor, gateway and the bare name behind prefixes, dates and suffixes.

Pure string work, no prices. Rules: section 3 of the project's decision notes and the name forms seen in logs
(OpenRouter ``vendor/model:variant``, Bedrock ``region.vendor.model-v1:0`` and ARNs, Vertex ``model@date``, LiteLLM
``provider/model``, Claude Code ``model[1m]``).
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from monitor.readers.patterns import Lazy

#: vendors (own price list) -> the names logs use for them, as a provider or as a prefix
VENDORS: dict[str, tuple[str, ...]] = {
    "anthropic": ("claude", "claude-code"),
    "openai": ("openai-codex", "codex", "chatgpt", "openai_like", "text-completion-openai", "openai-responses"),
    "google": ("gemini", "google-ai-studio", "google_genai", "google-genai", "google-gemini-cli", "gcp.gemini",
               "gemini-cli", "google-generative-ai"),
    "deepseek": (),
    "moonshotai": ("moonshot", "moonshot-ai", "kimi", "kimi-for-coding", "kimi-coding", "moonshotai-cn"),
    "zai": ("z-ai", "z.ai", "zai-coding-plan"),
    "qwen": ("dashscope", "alibaba", "qwen-code", "qwencloud", "qwen_ai_platform", "alibaba-cn", "aliyun", "bailian"),
    "xai": ("x-ai", "grok"),
    "mistral": ("mistralai", "mistral-ai", "mistral_ai", "codestral"),
    "minimax": ("minimaxi", "minimax-cn"),
}  # fmt: skip

#: repositories of open weights: who serves the model, and at which price, is not said
WEIGHTS: dict[str, str] = {
    "deepseek-ai": "deepseek",
    "zai-org": "zai",
    "thudm": "zai",
    "minimaxai": "minimax",
}

#: gateways whose own prices the table carries, where they differ from the vendor's
GATEWAYS: dict[str, tuple[str, ...]] = {
    "openrouter": ("openrouter.ai",),
    "bedrock": ("aws", "aws.bedrock", "aws_bedrock", "amazon-bedrock", "amazon bedrock", "amazon_bedrock",
                "bedrock_converse", "bedrock-converse", "bedrock_mantle", "aws-bedrock", "converse", "converse_like"),
    "vertex": ("vertex_ai", "vertexai", "vertex-ai", "google-vertex", "google-vertex-anthropic", "gcp.vertex_ai",
               "vertex_ai_beta", "vertex_ai-anthropic_models", "vertex_ai-language-models", "google vertex"),
    "azure": ("azure-openai", "azure_openai", "azure.ai.openai", "az.ai.openai", "azure_text"),
    "zhipuai": ("zhipu", "bigmodel", "bigmodel.cn"),
}  # fmt: skip

#: proxies that pass a vendor's bill through unchanged
PROXIES = frozenset({
    "litellm", "litellm_proxy", "litellm-proxy", "portkey", "helicone", "langfuse", "new-api", "newapi",
    "one-api", "oneapi", "magpie", "lhar", "cloudflare-ai-gateway", "ctxmon", "har",
})  # fmt: skip

#: services with a price list of their own that the table does not carry: their price is unknown
HOSTS = frozenset({
    "together", "together_ai", "togetherai", "fireworks", "fireworks_ai", "fireworks-ai", "groq",
    "cerebras", "deepinfra", "novita", "novita-ai", "sambanova", "nebius", "hyperbolic", "baseten",
    "replicate", "perplexity", "workers-ai", "cloudflare", "databricks", "snowflake", "watsonx", "oci",
    "nscale", "chutes", "siliconflow", "parasail", "lambda", "lambda_ai", "huggingface", "friendli",
    "friendliai", "azure_ai", "azure-ai-foundry", "ovhcloud", "nvidia", "nvidia_nim", "modal",
    "inference-net", "volcengine", "heroku", "scaleway", "gmi", "wandb", "anyscale", "lepton",
    "gcp.vertex_ai.model_garden",
})  # fmt: skip

#: engines on the user's own machine: no bill, and a window set by its owner
LOCAL = frozenset({
    "ollama", "ollama_chat", "lmstudio", "lm-studio", "lm_studio", "llama.cpp", "llamacpp", "llama-cpp",
    "llamafile", "vllm", "hosted_vllm", "sglang", "local", "localai", "mlx", "koboldcpp", "jan",
    "oobabooga", "tgi", "xinference", "docker_model_runner", "lemonade",
})  # fmt: skip

_VENDOR = {alias: name for name, aliases in VENDORS.items() for alias in (name, *aliases)}
_GATEWAY = {alias: name for name, aliases in GATEWAYS.items() for alias in (name, *aliases)}

# compiled when a name is met that may be meant, which a look at some characters tells: most runs need none of them
_BEDROCK = Lazy(
    r"^(?:(?P<scope>global|us|us-gov|eu|apac|ap|jp|au|in|ca|sa|af|me|il|regional)\.)?"
    r"(?P<vendor>anthropic|openai|moonshotai|moonshot|zai|deepseek|qwen|minimax|mistral)\.(?P<name>.+)$"
)
_CLAUDE_ORDER = Lazy(r"^claude-(?P<ver>\d(?:-\d{1,2})?)-(?P<family>opus|sonnet|haiku|fable|mythos)(?P<rest>(?:-.*)?)$")
_CLAUDE_3 = Lazy(r"^claude-(?P<family>opus|sonnet|haiku)-3(?P<minor>-\d)?(?P<rest>(?:-.*)?)$")
#: OpenRouter's variants: how a request is routed. Their price is the list price only by approximation
_ROUTING = Lazy(r":(free|nitro|floor|online|exacto|beta|extended|thinking)$")
_BEDROCK_VERSION = Lazy(r"-v\d+(?::\d+)?(?::\d+k)?$")
_AT = Lazy(r"@(?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|default|latest)$")
#: a snapshot, a moving name or an effort level of the same model at the same price
_SAME = Lazy(r"-(?:20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|latest)$")
_EFFORTS = ("-none", "-minimal", "-low", "-medium", "-high", "-xhigh", "-thinking", "-nothinking")
_BUDGET = Lazy(r"-thinking-\d{1,6}k?$")  # how gateways write a thinking budget into a name
_HAS_EFFORT = Lazy(r"^(?:claude-|gpt-[56]|gpt-oss|o[134](?:-|$)|gemini-|codex-|grok-[34])")
#: probably the same list price, to be marked
_NEAR = Lazy(
    r"-(?:preview|beta|exp|experimental|instruct|it|customtools|fp[48]|int[48]|awq|gptq|gguf|nvfp4|bf16|"
    r"[01]\d[0-3]\d|[01]\d-20\d{2}|[01]\d-[0-3]\d)$"
)


class Parsed(msgspec.Struct, frozen=True, gc=False):
    """A model name taken apart.

    ``key``: bare name, lower case, with ``-`` for dots. ``vendor``: from a prefix or the provider, None if neither
    tells. ``route``: a gateway of :data:`GATEWAYS` (Bedrock's global endpoints are ``bedrock-global``), ``host``,
    ``local``, or "" (the vendor itself or a plain proxy). ``near``: the name or its way leave the price uncertain.
    ``million``: the name carries Claude Code's ``[1m]`` mark.
    """

    key: str
    vendor: str | None = None
    route: str = ""
    near: bool = False
    million: bool = False


def bare_key(name: str) -> str:
    """The form under which names are compared: lower case, ``-`` for dots, underscores and spaces."""
    key = name.strip().lower().replace(".", "-").replace("_", "-").replace(" ", "-")
    if key.startswith("claude-") and key[7:8] != "3":  # up to 3.7 the version came first
        if key[7:8].isdecimal():
            # "claude-4.5-sonnet" is what gateways call claude-sonnet-4-5
            if m := _CLAUDE_ORDER.match(key):
                key = f"claude-{m['family']}-{m['ver']}{m['rest']}"
        elif "-3" in key and (m := _CLAUDE_3.match(key)):
            key = f"claude-3{m['minor'] or ''}-{m['family']}{m['rest']}"
    return key


def parse(model: str | None, provider: str | None = None) -> Parsed | None:
    """Take a logged model name apart; None for no name and for placeholders such as ``<synthetic>``.

    ``provider`` is what the log calls the sender or gateway. What the name itself says is the stronger evidence.
    """
    raw = model.strip().lower() if model else ""
    if not raw or raw.startswith("<"):
        return None
    vendor: str | None = None
    route = ""
    near = False
    if raw.startswith("arn:aws"):
        route = "bedrock"
    *prefix, name = raw.split("/")
    if "publishers" in prefix:  # Vertex: projects/P/locations/L/publishers/V/models/M
        route = "vertex"
        prefix = prefix[prefix.index("publishers") + 1 :]
    for part in prefix:
        found_route, found_vendor, known = _place(part)
        route = route or found_route
        vendor = found_vendor or vendor
        if not known:
            near = True
    if "." in name and (m := _BEDROCK.match(name)):
        vendor = _VENDOR.get(m["vendor"], vendor)
        name = m["name"]
        if route in ("", "bedrock"):
            scopes = {"global": "bedrock-global", "us-gov": "host"}  # GovCloud: a price list of its own
            route = scopes.get(m["scope"] or "", "bedrock")
    if provider:
        found_route, found_vendor, known = _place(provider.strip().lower())
        if not route:
            route = found_route
        if not known and not prefix:
            near = True
        vendor = vendor or found_vendor
    million = False
    if name.endswith("[1m]"):
        million, name = True, name[:-4]
    if "@" in name:
        name = _AT.sub("", name)
    if route.startswith("bedrock"):
        name = _BEDROCK_VERSION.sub("", name)
    if ":" in name and (m := _ROUTING.search(name)):
        near = near or m[1] != "thinking"
        name = name[: m.start()]
    return Parsed(key=bare_key(name), vendor=vendor, route=route, near=near, million=million)


def _place(word: str) -> tuple[str, str | None, bool]:
    """(route, vendor, known) of a prefix or a provider's name."""
    if word in _VENDOR:
        return "", _VENDOR[word], True
    if word in _GATEWAY:
        return _GATEWAY[word], None, True
    if word in WEIGHTS:
        return "", WEIGHTS[word], False
    if word in LOCAL:
        return "local", None, True
    if word in HOSTS:
        return "host", None, True
    # regions follow their gateway's name; path words of the clouds say nothing
    known = word in PROXIES or word in _PATH_WORDS or bool(_REGION.match(word)) or word.startswith("arn:aws")
    return "", None, known


_PATH_WORDS = frozenset({
    "models", "accounts", "global", "foundation-model", "inference-profile",
})  # fmt: skip
_REGION = Lazy(r"^[a-z]{2}(?:-gov)?-[a-z]+-?\d$")


def candidates(key: str) -> Iterator[tuple[str, bool]]:
    """(key, near) from the name itself down to its stem, cutting one known suffix at a time.

    Only suffixes that name no other model are cut: dates, ``-latest``, effort levels (``near`` False), previews and
    number formats (``near`` True). A version number or a size word is never cut, so an unknown sibling stays unknown.
    """
    near = False
    while key:
        yield key, near
        dated = key[-1].isdecimal() or key.endswith("latest")
        if dated and (m := _SAME.search(key)):
            key = key[: m.start()]
        elif key.endswith(_EFFORTS) and _HAS_EFFORT.match(key):
            key = key[: key.rindex("-")]
        elif "-thinking-" in key and (m := _BUDGET.search(key)) and _HAS_EFFORT.match(key):
            key = key[: m.start()]
        elif m := _NEAR.search(key):
            key, near = key[: m.start()], True
        else:
            return
