"""The JSON of the contract, field by field, written by hand from its text. How to read it: contract_fields.py."""

from __future__ import annotations

SOURCES = (
    "claude-code codex pi gemini-cli opencode cline roo qwen-code kimi copilot amp openhands aider droid hermes "
    "har mitmproxy claude-trace claude-tap lhar api-log ctxmon "
    "new-api one-api litellm openrouter magpie langfuse helicone bedrock cloudflare portkey "
    "otel claude-code-otel codex-otel gemini-otel codex-exec table"
)
ACTIONS = "continue trim compact_at_boundary compact_now notes_new_window fresh"
CAUSES = "expired compaction model_switch prefix_changed trim unknown"
KINDS = "compaction microcompaction trim clear fork rewind model_switch error overflow thrash unexplained_drop"

TABLES = f"""
CALLS_BODY
  schema                 str    ctxmon.calls/1
  calls                  [CALL]
  events                 [EVENT]
  problems               [PROBLEM]

CALL
  session                str
  session_evidence       str    explicit chain prefix lane file
  chain                  chain
  window                 count
  index                  int
  exchange               count?
  time                   time?
  duration_ms            int?
  source                 str    {SOURCES}
  provider               str?
  model                  str?
  prompt_tokens          int?
  fresh_tokens           int?
  cache_read_tokens      int?
  cache_write_tokens     int?
  cache_write_1h_tokens  int?
  output_tokens          int?
  output_is_lower_bound  bool
  reasoning_tokens       int?
  billed_prompt_tokens   int?
  context_limit          count?
  context_limit_source   str?   logged table observed user
  cost_usd               num?
  cost_source            str?   table logged
  status                 str    ok error in_flight estimated
  purpose                str    work compaction side
  cache_outcome          str    first hit partial miss unreported
  cache_miss_cause       str?   {CAUSES}
  file                   str
  line                   count?
  call_id                str?

EVENT
  kind                   str    {KINDS}
  evidence               str    recorded inferred
  session                str
  chain                  chain
  trigger                str?   auto manual idle
  time                   time?
  tokens_before          int?
  tokens_after           int?
  recorded_before        int?
  recorded_after         int?
  summary_tokens         int?
  after_call             int?
  before_call            int?
  file                   str
  line                   count?

PROBLEM
  file                   text
  line                   count?
  reason                 str

REPORT
  schema                 str    ctxmon.report/1
  generated              time
  sessions               [SESSION]
  totals                 {{TOTALS}}
  by_model               [MODEL]
  by_day                 [DAY]
  problems               [PROBLEM]

SUMS
  calls                  int
  prompt_tokens          int?
  fresh_tokens           int?
  cache_read_tokens      int?
  cache_write_tokens     int?
  output_tokens          int?
  side_calls             int
  cost_usd               num?
  unpriced_calls         int

SESSION + SUMS
  session                str
  source                 str    {SOURCES}
  models                 strs
  first                  time?
  last                   time?
  exchanges              count?
  peak_prompt_tokens     int?
  last_prompt_tokens     int?
  context_limit          count?
  usable_limit           int?
  cache_hit_ratio        ratio?
  prefix_hit_ratio       ratio?
  cache_misses           counts {CAUSES}
  quota                  {{QUOTA}}?
  windows                int
  compactions            int
  inferred_compactions   int
  inherited_calls        int
  forecast               {{FORECAST}}?
  decision               {{DECISION}}?
  chains                 [CHAIN]

TOTALS + SUMS
  cache_misses           counts {CAUSES}
  windows                int
  compactions            int
  inferred_compactions   int
  inherited_calls        int

MODEL + SUMS
  model                  str?

DAY + SUMS
  date                   date?

CHAIN
  chain                  chain
  calls                  int
  peak_prompt_tokens     int?
  windows                count

QUOTA
  used_percent           num
  resets                 time?
  window_min             count?

FORECAST
  calls_to_limit         {{RANGE}}?
  calls_to_window        {{RANGE}}?
  tokens_per_call        num

RANGE
  p10                    num
  p50                    num
  p90                    num

DECIDE + DECISION
  schema                 str    ctxmon.decision/1

DECISION
  action                 str    {ACTIONS}
  rule                   str
  confidence             str    high medium low
  reasons                strs
  signals                {{SIGNALS}}
  costs                  {{COSTS}}?
  next                   str

SIGNALS
  fill                   num?
  prompt_tokens          int?
  usable_limit           int?
  tokens_per_call        num?
  calls_to_limit         {{RANGE}}?
  cache_hit_ratio        ratio?
  idle_s                 num?
  cache_state            str    warm cooling cold unknown
  compactions            int
  pending_tool_call      bool?
  boundary_score         num?
  loop                   bool?
  break_even_calls       num?
  optimal_size           int?

COSTS
  continue               num?
  compact                num?
  new_window             num?

BACKTEST
  schema                 str    ctxmon.backtest/1
  policies               [POLICY]
  sessions               [TESTED]
  assumptions            any

POLICY
  policy                 str
  sessions               count
  actions                counts
  prompt_tokens          int?
  cost_usd               num?
  calls_over_90_percent  int?
  lead_calls             {{LEAD}}
  against_actual         {{AGAINST}}

LEAD
  p50                    num?

AGAINST
  prompt_tokens          num?
  cost_usd               num?

TESTED
  session                str

PRICES
  schema                 str    ctxmon.prices/1
  models                 [PRICE]

PRICE
  model                  str
  provider               str?
  valid_from             date?
  input                  num?
  output                 num?
  cache_read             num?
  cache_write_5m         num?
  cache_write_1h         num?
  tiers                  [TIER]
  window                 count?
  max_output             count?
  source                 str

TIER
  above                  count
  input                  num?
  output                 num?

CHECK
  schema                 str    ctxmon.check/1
  format                 str?
  provider               str?
  violations             [VIOLATION]

VIOLATION
  code                   str
  where                  str
  message                str
  repair                 text

COMPACTION
  schema                 str    ctxmon.compaction/1
  input                  {{IN}}
  output                 {{OUT}}
  ratio                  num?
  strategy               str    summary trim remote notes
  summarizer             str?
  kept_turns             int
  sections               {{SECTIONS}}
  constraints            strs
  retention              any
  invented               any
  repairs                any
  violations             any
  cost_usd               num?

IN
  format                 str
  messages               int
  tokens                 int

OUT
  path                   str?
  format                 str
  messages               int
  tokens                 int

SECTIONS
  goal                   any
  progress               any
  facts                  any
  decisions              any
  next_steps             any

DOCTOR
  schema                 str    ctxmon.doctor/1
  files                  [FOUND]
  problems               [PROBLEM]

FOUND
  file                   str
  source                 str?   {SOURCES}
  calls                  int
"""
