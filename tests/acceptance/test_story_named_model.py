"""`abreast demo story --model`: a provider's own client asks a service, in the story's processes too."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from abreast.demo.offline_model import OfflineModel
from abreast.demo.words import ENGLISH

COMMAND = [str(Path(sys.executable).with_name("abreast")), "demo", "story", "--json", "--model", "anthropic:any"]
ANSWER = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 1, "output_tokens": 1},
}


class Service(BaseHTTPRequestHandler):
    """Speaks Anthropic's protocol; the offline model answers from the request as it came over the wire."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer a request, at once or in parts."""
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        whole = {**ANSWER, "model": request["model"], "content": content_of(answer_to(request))}
        parts = request.get("stream", False)
        body = ("".join(map(as_event, parts_of(whole))) if parts else json.dumps(whole)).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if parts else "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answer_to(request: dict[str, Any]) -> AIMessage:
    """Ask the offline model."""
    tools = [
        {"type": "function", "function": {**told, "parameters": told["input_schema"]}} for told in request["tools"]
    ]
    said = [message for sent in request["messages"] for message in as_said(sent["role"], sent["content"])]
    return OfflineModel().bind(tools=tools).invoke([SystemMessage(request["system"]), *said])


def as_said(role: str, content: Any) -> Iterator[BaseMessage]:
    """Give a message of the protocol as LangChain has it; calls of tools say nothing."""
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        if part["type"] == "tool_result":
            yield ToolMessage(part["content"], tool_call_id=part["tool_use_id"])
        elif part["type"] == "text":
            yield AIMessage(part["text"]) if role == "assistant" else HumanMessage(part["text"])


def content_of(answer: AIMessage) -> list[dict[str, Any]]:
    """Write an answer as the protocol does."""
    calls = [
        {"type": "tool_use", "id": f"toolu_{call['id']}", "name": call["name"], "input": call["args"]}
        for call in answer.tool_calls
    ]
    return [*([{"type": "text", "text": answer.text}] if answer.text else []), *calls]


def parts_of(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut an answer of text into parts."""
    yield {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}}
    (text,) = whole["content"]
    yield {"type": "content_block_start", "index": 0, "content_block": {**text, "text": ""}}
    for word in text["text"].split(" "):
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f"{word} "}}
    yield {"type": "content_block_stop", "index": 0}
    ending = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


def as_event(part: dict[str, Any]) -> str:
    """Write a part as an event of a stream."""
    return f"event: {part['type']}\ndata: {json.dumps(part)}\n\n"


@pytest.fixture
def service() -> Iterator[str]:
    """Run the service, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_named_model(tmp_path: Path, service: str):
    """A model named on the command line goes through init_chat_model: tools, streams and both processes included."""
    told_where = {"ANTHROPIC_API_KEY": "none", "ANTHROPIC_BASE_URL": service}
    done = subprocess.run(
        COMMAND,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **told_where},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (0, "") == (done.returncode, done.stderr)
    steps = json.loads(done.stdout)
    assert [] == [(step["step"], check) for step in steps for check in step["checks"] if not check["holds"]]
    assert list(ENGLISH.titles.values()) == [step["title"] for step in steps]
