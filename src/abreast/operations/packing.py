"""Small values made smaller: what they have in common stands once, in a dictionary."""

from __future__ import annotations

import zlib
from typing import Final

_LEAST: Final = 96
"""Fewer bytes gain nothing."""
_WINDOW: Final = -zlib.MAX_WBITS
_DICTIONARY: Final = (
    b"\x91\xc8\x05\x94\xd9\x1dlangchain_core.messages.system\xadSystemMessage\x85"
    b"\xd9\x1blangchain_core.messages.tool\xabToolMessage\x89\xactool_call_id\xa8artifact\xa6status\xa7success"
    b"\xa5error\xa4args\xa4type\xa9tool_call\xa8function\xa9arguments\xaadetails\xafgrounding\xacprovider"
    b"\xaainput_tokens\xadoutput_tokens\xactotal_tokens\xb3input_token_details\xb4output_token_details"
    b"\xa9reasoning\xaacache_read\xb0cache_creation\xaafinish_reason\xa4stop\xaamodel_name\xaemodel_provider"
    b"\xaatoken_usage\xb1completion_tokens\xadprompt_tokens\xacservice_tier\xb2system_fingerprint\xa8logprobs"
    b"\x91\xc7\xfe\x05\x94\xbdlangchain_core.messages.human\xacHumanMessage\x86\xa7content\xd9"
    b"\xb1additional_kwargs\x80\xb1response_metadata\x80\xa4type\xa5human\xa4name\xc0\xa2id\xc0"
    b"\xb3model_validate_json"
    b"\x91\xc8\x02\x05\x94\xbalangchain_core.messages.ai\xa9AIMessage\x89\xa7content\xda\x01"
    b"\xb1additional_kwargs\x80\xb1response_metadata\x80\xa4type\xa2ai\xa4name\xc0\xa2id\xd9$"
    b"\xaatool_calls\x90\xb2invalid_tool_calls\x90\xaeusage_metadata\xc0\xb3model_validate_json"
    b'","l",[0,1],"__interrupt__":"__pregel_tasks":"jump_to":"structured_response":[1,"i","msgpack","1,"v",1'
    b"\xacthread_model\xa6run_id\xa6update\xa4fork\xadlanggraph_node\xa9run_name\xd9\x1dcounters_since_delta_snapshot"
    b'\x00\x00\x00\x84{"core":["msgpack",238],"metadata":["msgpack",29],"channels":{"messages":[87,"l",[0,58],'
    b'"__start__":[88,"v",88,268]"branch:to:tools":[89,"i","null",""],"branch:to:model":[89,"i","null",""]}}'
    b"\x86\xa1v\x04\xa2ts\xd9 2026-12-01T00:00:00.000000+00:00\xa2id\xd9$1f1ed2ca-b7b5-6af6-8056-9231ee1dc34e"
    b"\xb0channel_versions\x83\xa9__start__X\xa8messagesW\xafbranch:to:toolsW\xafbranch:to:modelW"
    b"\xadversions_seen\x83\xa9__input__\x80\xa9__start__\x81\xa9__start__U\xa5tools\x81\xafbranch:to:tools"
    b"\xa5model\x81\xafbranch:to:modelV\xb0updated_channels\x91\xa9__start__"
    b"\x83\xa6source\xa5input\xa4loop\xa4stepV\xa7parents\x80"
)
"""What messages and checkpoints say again and again; it never changes, since stored bytes refer to it."""


def pack(data: bytes) -> bytes | None:
    """Pack bytes; None where nothing is gained."""
    if len(data) < _LEAST:
        return None
    packer = zlib.compressobj(zlib.Z_DEFAULT_COMPRESSION, zlib.DEFLATED, _WINDOW, zdict=_DICTIONARY)
    packed = packer.compress(data) + packer.flush()
    return packed if len(packed) < len(data) else None


def unpack(packed: bytes) -> bytes:
    """Give packed bytes back; a checksum has told that they are what was stored."""
    unpacker = zlib.decompressobj(_WINDOW, zdict=_DICTIONARY)
    return unpacker.decompress(packed) + unpacker.flush()
