"""What the board is sent of its panes, read as docs/architecture.md says, not by our code."""

import json

import numpy as np


def head_of(data: bytes) -> dict:
    """What a message to the board says around its panes, such as its card and its strip."""
    return json.loads(data.partition(b"\0")[0])


def panes_of(data: bytes) -> dict[str, dict]:
    """The panes in a message to the board, with their codes and, if sent, values."""
    written, _, raw = data.partition(b"\0")
    panes, at = {}, 0
    for pane in json.loads(written).get("panes", ()):
        panes[pane["name"]] = pane
        shape = len(pane["rows"]), len(pane["columns"])
        count = shape[0] * shape[1]
        pane["codes"] = np.frombuffer(raw[at : at + count], np.uint8).reshape(shape)
        at += count
        if not pane["large"]:
            pane["values"] = np.frombuffer(raw[at : at + 8 * count], "<f8").reshape(shape)
            at += 8 * count
    assert at == len(raw)
    return panes
