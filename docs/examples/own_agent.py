"""An agent of one's own that compacts its context when the provider says that it is large.

pip install .     # in a checkout of ctxmon; it brings httpx
BASE_URL=http://localhost:11434/v1 MODEL=qwen3:8b python own_agent.py "Find the slow query and fix it."
"""

import json
import os
import subprocess
import sys

import httpx

from monitor.compaction import Compactor

TOOL = {"type": "function", "function": {"name": "run", "description": "Run a shell command", "parameters": {
    "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}  # fmt: skip
url, model = os.environ["BASE_URL"].rstrip("/") + "/chat/completions", os.environ["MODEL"]
headers = {"authorization": f"Bearer {os.environ.get('API_KEY') or 'none'}"}
compactor = Compactor(threshold=int(os.environ.get("THRESHOLD", "100000")))  # prompt tokens; 2 exchanges are kept
messages = [{"role": "system", "content": "You are a careful agent."}]

for task in sys.argv[1:]:
    messages.append({"role": "user", "content": task})
    for _ in range(50):
        messages = compactor.maybe(messages)  # smaller if it is time, else the same list
        body = {"model": model, "messages": messages, "tools": [TOOL]}
        answer = httpx.post(url, json=body, headers=headers, timeout=300).raise_for_status().json()
        compactor.after_call(answer.get("usage"))
        message = answer["choices"][0]["message"]
        messages.append({k: v for k, v in message.items() if v is not None})
        for call in message.get("tool_calls") or []:
            command = json.loads(call["function"]["arguments"]).get("command", "")
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
            result = f"{done.stdout}{done.stderr}[exit code {done.returncode}]"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        if not message.get("tool_calls"):
            print(message["content"])
            break
    compactor.finish_phase()  # a task is done: a good moment to compact
