"""A host in Python: starts the engine, registers a callback, fires events. Standard library only."""
import itertools
import json
import os
import subprocess


class Crosier:
    def __init__(self, config):
        self.server = subprocess.Popen(
            ["crosier", "serve", "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self.numbers, self.handlers = itertools.count(1), {}
        self.request("hello", protocols=[1], client={"name": "host.py"}, config=[config], cwd=os.getcwd())

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def request(self, method, **params):
        """Send a request, and answer the server's own calls until its result is there."""
        number = next(self.numbers)
        self.send({"id": number, "method": method, "params": params})
        while line := self.server.stdout.readline():
            message = json.loads(line)
            if message.get("method") == "hook.call":
                self.answer(message["id"], **message["params"])
            elif message.get("id") == number and "method" not in message:
                if "error" in message:  # no outcome is no permission: whoever asked must not go on
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
        raise RuntimeError("crosier has ended")

    def answer(self, number, hook, event, **_):
        try:
            self.send({"id": number, "result": self.handlers[hook](event)})
        except Exception as error:  # a failure of the hook, which its `on_error` decides about
            self.send({"id": number, "error": {"code": 1, "message": repr(error)}})

    def register(self, name, event, handler, **settings):
        self.handlers[name] = handler
        self.request("hook.register", name=name, event=event, **settings)

    def fire(self, event, **fields):
        return self.request("fire", event=event, input=fields)["outcome"]


def no_secrets(event):
    if ".env" in event["tool_input"].get("file_path", ""):
        return {"decision": "deny", "reason": "secrets stay where they are"}


if __name__ == "__main__":
    crosier = Crosier(os.path.abspath("hooks.yaml"))
    crosier.register("no-secrets", "PreToolUse", no_secrets, matcher="Read", on_error="abort")
    for tool, tool_input in [
        ("Read", {"file_path": "src/main.rs"}),
        ("Read", {"file_path": ".env"}),
        ("Bash", {"command": "git push --force"}),
    ]:
        outcome = crosier.fire("PreToolUse", tool_name=tool, tool_input=tool_input)
        print(tool, *tool_input.values(), "->", outcome["decision"] or "go on", outcome["by"] or "")
    crosier.request("shutdown")
