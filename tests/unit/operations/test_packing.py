"""Packed values: what is stored is smaller, and comes back as it was."""

import hashlib
import os

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from abreast.operations import packing
from abreast.operations.manifests import Serialized, packed, unpacked


@given(st.binary(max_size=2_000), st.sampled_from(["msgpack", "bytes", "msgpack+aes", "null"]))
def test_everything_comes_back(data, kind):
    """I11"""
    value = Serialized(kind, data)
    assert value == unpacked(packed(value))
    assert len(packed(value).data) <= len(data)


def test_a_message_takes_half():
    """A short message is mostly names of fields."""
    for message in (HumanMessage("When do I move in?"), AIMessage("You move in on 30 September.", id="a1")):
        value = Serialized(*JsonPlusSerializer().dumps_typed([message]))
        assert len(packed(value).data) < len(value.data) / 2


def test_what_cannot_be_packed_stays():
    """Encrypted bytes are stored as they are, and so are large ones."""
    for data in (os.urandom(4_096), bytes(100_000)):
        assert Serialized("msgpack", data) == packed(Serialized("msgpack", data))


def test_the_dictionary_stays():
    """Stored values refer to it: another one needs another name."""
    assert "0c8a24285cb0" == hashlib.sha256(packing._DICTIONARY).hexdigest()[:12]
