"""A model on loopback that speaks Anthropic's wire: it calls Bash once, then says that it is done."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Scripted:
    def __init__(self, command):
        self.command, self.read, self.texts = command, [], []
        scripted = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_HEAD(self):
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_HEAD

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
                if "messages" not in body or "count_tokens" in self.path:
                    return self.reply(json.dumps({"input_tokens": 1}), "application/json")
                blocks = scripted.answer(body)
                if body.get("stream"):
                    self.reply(events(blocks), "text/event-stream")
                else:
                    self.reply(json.dumps(message(blocks)), "application/json")

            def reply(self, text, kind):
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, body):
        self.texts.append(json.dumps(body["messages"]))
        results = [part for item in body["messages"] if isinstance(item["content"], list) for part in item["content"]
                   if part.get("type") == "tool_result"]  # fmt: skip
        if results:
            self.read.append(json.dumps(results[-1]["content"]))
        elif any(tool.get("name") == "Bash" for tool in body.get("tools", [])):
            given = {"command": self.command, "description": "x"}
            return [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": given}]
        return [{"type": "text", "text": "done"}]


def message(blocks):
    reason = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": blocks,
            "stop_reason": reason, "stop_sequence": None, "usage": usage}  # fmt: skip


def events(blocks):
    whole = message(blocks)
    said = [("message_start", {"message": {**whole, "content": [], "stop_reason": None}})]
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        said += [("content_block_start", {"index": index, "content_block": start}),
                 ("content_block_delta", {"index": index, "delta": delta}), ("content_block_stop", {"index": index})]  # fmt: skip
    said += [("message_delta", {"delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None}, "usage": whole["usage"]}),
             ("message_stop", {})]  # fmt: skip
    return "".join(f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n" for name, data in said)
