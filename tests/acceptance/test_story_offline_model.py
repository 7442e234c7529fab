"""The model of the story: a general reader of the request that it is sent."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import tool

from abreast.demo import calling, grammar, offline_model, reader
from abreast.demo.offline_model import OfflineModel


@pytest.mark.parametrize("module", [grammar, reader, calling, offline_model])
def test_the_model_knows_only_the_request(module: Any):
    """The offline model imports the grammar of the block, and nothing of the log, the database or the story."""
    tree = ast.parse(Path(module.__file__).read_text())
    imported = {
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("abreast")
    }
    allowed = re.compile(r"abreast\.prompt(\..*)?|abreast\.demo\.(grammar|reader|calling)")
    assert [] == [name for name in imported if not allowed.fullmatch(name or "")]


HIGH, LOW = ("assistant", "Good morning. The tide is high."), ("assistant", "The tide is low.")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ([("user", "What is the gate code?")], "I was not told that."),
        ([HIGH, ("user", "And the tide?")], "The tide is high."),
        ([HIGH, LOW, ("user", "And the tide?")], "The tide is low."),
        ([("assistant", "물때는 높습니다."), ("user", "물때가 어떤가요?")], "물때는 높습니다."),
        ([("user", "비밀번호가 무엇인가요?")], "그에 대해서는 전달받은 내용이 없습니다."),
    ],
)
def test_model_without_a_block(said: list[tuple[str, str]], expected: str):
    """Without a block the model repeats the newest statement of the conversation about what is asked."""
    assert expected == OfflineModel().invoke(said).content


def test_newest_block_counts():
    """Of two blocks in a request the later one is answered from; a block in the answer of a tool is none."""
    lines = (
        '<workspace_state revision="{0}">',
        "CURRENT",
        "1 tide:",
        "- tide t1 (version {0}): level: {0}",
        "CHANGES SINCE LAST SUCCESS",
        "Nothing changed.",
        "</workspace_state>",
    )
    block = "\n".join(lines)
    said = [("user", block.format(1)), ("user", block.format(2)), ("assistant", block.format(3))]
    answer = OfflineModel().invoke([*said, ("user", "What is the level of the tide?")]).content
    assert "The level of tide t1 is 2." == answer


TIDE = """<workspace_state revision="3">
CURRENT
2 tide:
- tide t1 (version 7): level: 3; open: no
- tide "t 2" (version 9): level: 4; open: yes
CHANGES SINCE LAST SUCCESS
Nothing changed.
</workspace_state>"""


@tool
def look(ids: list[str]) -> str:
    """Look at the tide."""
    return str(ids)


@tool
def raise_boat(id: str, version: int, level: int) -> str:  # noqa: A002 - a name that tools use
    """Raise a boat."""
    return f"{id} {version} {level}"


@tool
def raise_tide(entity_id: str, expected_version: int, level: int, why: str = "") -> str:
    """Raise a tide."""
    return f"{entity_id} {expected_version} {level} {why}"


@tool
def gate(key: str, open: bool) -> str:  # noqa: A002 - a name that tools use
    """Open or close the gate."""
    return f"{key} {open}"


@pytest.mark.parametrize(
    ("order", "tools", "expected"),
    [
        ("Set the level of t1 to 5.", [look, raise_boat, raise_tide], ("raise_tide", ["t1", 7, 5])),
        ("Set the level of t1 to 5.", [look, raise_boat], ("raise_boat", ["t1", 7, 5])),
        ("Please mark t1 as open.", [raise_tide, gate], ("gate", ["t1", True])),
        ("Change open of t 2 to no.", [gate], ("gate", ["t 2", False])),
    ],
)
def test_model_calls_any_tool(order: str, tools: list[Any], expected: tuple[str, list[Any]]):
    """An instruction becomes a call of whichever tool takes what the block says, whatever it is called."""
    answer = OfflineModel().bind_tools(tools).invoke([("user", TIDE), ("user", order)])
    ((name, arguments),) = [(call["name"], list(call["args"].values())) for call in answer.tool_calls]
    assert expected == (name, arguments)


def test_model_without_a_fitting_tool():
    """Where no tool takes what is asked the model answers; it makes no argument up."""
    answer = OfflineModel().bind_tools([look]).invoke([("user", TIDE), ("user", "Set the level of t1 to 5.")])
    assert ([], "The level of tide t1 is 3.") == (answer.tool_calls, answer.content)


@pytest.mark.parametrize("question", ["What is the level of t1?", "Set the level of t1 to 5."])
def test_model_word_by_word(question: str):
    """What is streamed is what is answered at once, calls of tools included."""
    model, said = OfflineModel().bind_tools([raise_tide]), [("user", TIDE), ("user", question)]
    streamed = list(model.stream(said))
    whole, at_once = streamed[0], model.invoke(said)
    for chunk in streamed[1:]:
        whole += chunk
    assert at_once.content == whole.content
    calls = [[(call["name"], call["args"]) for call in answer.tool_calls] for answer in (at_once, whole)]
    assert calls[0] == calls[1]
