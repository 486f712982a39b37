"""An agent that compacts its context: BASE_URL=http://localhost:11434/v1 MODEL=qwen3:8b python own_agent.py TASK…"""
import json
import os
import subprocess
import sys

import httpx

from monitor.compaction import Compactor

TOOL = {"type": "function", "function": {"name": "run", "description": "Run a shell command", "parameters": {
    "type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}}}
key = {"authorization": f"Bearer {os.environ.get('API_KEY') or 'none'}"}
model = httpx.Client(base_url=os.environ["BASE_URL"], headers=key, timeout=300)
compactor = Compactor(threshold=int(os.environ.get("THRESHOLD", "100000")))  # prompt tokens; 2 exchanges are kept
messages = [{"role": "system", "content": "You are a careful agent."}]
for task in sys.argv[1:]:
    messages.append({"role": "user", "content": task})
    while messages[-1]["role"] != "assistant" or "tool_calls" in messages[-1]:
        messages = compactor.maybe(messages)  # smaller if it is time, else the same list
        body = {"model": os.environ["MODEL"], "messages": messages, "tools": [TOOL]}
        answer = model.post("/chat/completions", json=body).raise_for_status().json()
        compactor.after_call(answer.get("usage"))
        messages.append({k: v for k, v in answer["choices"][0]["message"].items() if v})
        for call in messages[-1].get("tool_calls", []):
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout + done.stderr})
    compactor.finish_phase()  # a task is done: a good moment to compact
    print(messages[-1].get("content"))
