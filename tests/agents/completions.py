"""A small server on 127.0.0.1 that speaks the protocol of chat completions, by a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One answer: a status and a body, or the events of a stream; `cut` drops the connection."""

    body: Any = None
    status: int = 200
    events: Sequence[Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    silent: bool = False


@dataclass
class Server:
    url: str
    answers: list[Answer]
    requests: list[dict[str, Any]] = field(default_factory=list)
    seen: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


def message(content: str | None = None, **more: Any) -> Answer:
    """Return an answer with one choice."""
    reason = "tool_calls" if more.get("tool_calls") else "stop"
    return Answer({
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "small-1",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **more},
                "finish_reason": reason,
            }
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    })


def tool_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def piece(finish_reason: str | None = None, **delta: Any) -> dict[str, Any]:
    """Return one event of a stream."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "small-1",
        "choices": [choice],
    }


USAGE = {
    **piece(),
    "choices": [],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
}


class _Handler(BaseHTTPRequestHandler):
    server: _HTTPServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_POST(self) -> None:
        script = self.server.script
        length = int(self.headers["Content-Length"])
        script.requests.append(json.loads(self.rfile.read(length)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        script.seen.append({**headers, "path": self.path})
        answer = script.answers.pop(0)
        if answer.silent:
            script.over.wait()
            return
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.events is not None:
            self._stream(answer)
        else:
            self._whole(answer)

    def _whole(self, answer: Answer) -> None:
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) + answer.cut))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = answer.cut

    def _stream(self, answer: Answer) -> None:
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in answer.events or ():
            text = event if isinstance(event, str) else json.dumps(event)
            data = f"data: {text}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if not answer.cut:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    script: Server


@contextmanager
def serving(*answers: Answer) -> Iterator[Server]:
    """Serve answers, one a request, while the block runs."""
    http = _HTTPServer(("127.0.0.1", 0), _Handler)
    http.script = Server(f"http://127.0.0.1:{http.server_port}/v1", list(answers))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield http.script
    finally:
        http.script.over.set()
        http.shutdown()
        http.server_close()
        thread.join()
