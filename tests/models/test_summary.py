"""A capture as text: what was captured, its size and what was not."""

from pathlib import Path

import messages

from attention.models.taken import Taken


def test_print_says_what_was_captured_its_size_and_what_was_not():
    taken = Taken.load(Path(__file__).with_name("recorded") / "t5.safetensors")
    taken.missed = ["decoder.block.7"]
    text = repr(taken)
    assert text.startswith("T5, position bias: 3 calls, 6.6 kB\n")
    module = "decoder.block.0.layer.1.EncDecAttention"
    assert f"layers.2 ({module}, cross, eager): 1 × 4 heads" in text
    assert f"\n  {messages.NOT_CAPTURED.format(names='decoder.block.7')}\n" in text
    assert text.endswith('pass one list for each: tokens={"encoder": …, "decoder": …}.')
