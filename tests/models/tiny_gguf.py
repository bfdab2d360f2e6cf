"""A whole language model in 100 KB: one layer of random weights over single bytes, in the format llama.cpp loads.

What it writes makes no sense, but everything around it is real: tokens, grammars, slots, streams, saved states. It says
that it is of the Qwen2.5 family unless told otherwise.
"""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

WIDTH, HEADS, HIDDEN, CONTEXT = 32, 2, 48, 32768
ALIGNMENT = 32
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
_U32, _F32, _STRING, _ARRAY, _I32 = 4, 6, 8, 9, 5
_NORMAL, _CONTROL = 1, 3


def write_tiny(
    path: Path,
    *,
    name: str = "Qwen2.5 Tiny Instruct",
    template: str = CHATML + "{# <tool_call> #}",
    seed: int = 7,
) -> Path:
    """Write the model to `path` and give it back."""
    tokens = [*_byte_characters(), *SPECIAL]
    kinds = [_NORMAL] * 256 + [_CONTROL] * len(SPECIAL)
    keys: list[tuple[str, int, Any]] = [
        ("general.architecture", _STRING, "qwen2"),
        ("general.name", _STRING, name),
        ("qwen2.context_length", _U32, CONTEXT),
        ("qwen2.embedding_length", _U32, WIDTH),
        ("qwen2.block_count", _U32, 1),
        ("qwen2.feed_forward_length", _U32, HIDDEN),
        ("qwen2.attention.head_count", _U32, HEADS),
        ("qwen2.attention.head_count_kv", _U32, HEADS),
        ("qwen2.attention.layer_norm_rms_epsilon", _F32, 1e-6),
        ("qwen2.rope.freq_base", _F32, 10000.0),
        ("tokenizer.ggml.model", _STRING, "gpt2"),
        ("tokenizer.ggml.pre", _STRING, "qwen2"),
        ("tokenizer.ggml.tokens", _ARRAY, (_STRING, tokens)),
        ("tokenizer.ggml.token_type", _ARRAY, (_I32, kinds)),
        ("tokenizer.ggml.merges", _ARRAY, (_STRING, ["Ġ Ġ"])),
        ("tokenizer.ggml.eos_token_id", _U32, 258),
        ("tokenizer.ggml.padding_token_id", _U32, 256),
        ("tokenizer.chat_template", _STRING, template),
    ]
    path.write_bytes(_file(keys, _tensors(len(tokens), random.Random(seed))))
    return path


def _byte_characters() -> list[str]:
    """The printable character that GPT-2's tokenizer writes for each byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return [chr(byte) if byte in plain else chr(256 + others.index(byte)) for byte in range(256)]


def _tensors(vocabulary: int, rng: random.Random) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Name, shape (fastest dimension first) and float32 bytes."""
    block = "blk.0."
    shapes: list[tuple[str, tuple[int, ...]]] = [
        ("token_embd.weight", (WIDTH, vocabulary)),
        ("output_norm.weight", (WIDTH,)),
        ("output.weight", (WIDTH, vocabulary)),
        (block + "attn_norm.weight", (WIDTH,)),
        *((f"{block}attn_{part}.weight", (WIDTH, WIDTH)) for part in ("q", "k", "v", "output")),
        *((f"{block}attn_{part}.bias", (WIDTH,)) for part in "qkv"),
        (block + "ffn_norm.weight", (WIDTH,)),
        (block + "ffn_gate.weight", (WIDTH, HIDDEN)),
        (block + "ffn_up.weight", (WIDTH, HIDDEN)),
        (block + "ffn_down.weight", (HIDDEN, WIDTH)),
    ]
    return [(name, shape, _floats(shape, rng, ones="norm" in name)) for name, shape in shapes]


def _floats(shape: tuple[int, ...], rng: random.Random, *, ones: bool) -> bytes:
    count = shape[0] * (shape[1] if len(shape) > 1 else 1)
    values = [1.0] * count if ones else [rng.gauss(0, 0.3) for _ in range(count)]
    return struct.pack(f"<{count}f", *values)


def _file(keys: list[tuple[str, int, Any]], tensors: list[tuple[str, tuple[int, ...], bytes]]) -> bytes:
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(_text(key) + struct.pack("<I", kind) + _value(kind, value) for key, kind, value in keys)
    offset, data = 0, b""
    for name, shape, raw in tensors:
        head += _text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset)
        data += raw + b"\0" * (-len(raw) % ALIGNMENT)
        offset = len(data)
    return head + b"\0" * (-len(head) % ALIGNMENT) + data


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(kind: int, value: Any) -> bytes:
    if kind == _STRING:
        return _text(value)
    if kind == _ARRAY:
        inner, items = value
        return struct.pack("<IQ", inner, len(items)) + b"".join(_value(inner, item) for item in items)
    return struct.pack({_U32: "<I", _F32: "<f", _I32: "<i"}[kind], value)
