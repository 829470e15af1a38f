"""Which head of which model some numbers are: titles and file names."""

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from attention.core.recorded import Patches, Recorded
from attention.models.examples import CAPTURES, load
from attention.session.state.origin import (
    LONGEST_SOURCE,
    Origin,
    read_origins,
    write_origins,
)

MODULE = "decoder.layers.1.encoder_attn"


def read(source):
    """Return the origin that a link with this source gives."""
    return read_origins(json.dumps({"": {source: {"Q": "0123456789ab"}}}))["Q"]


@pytest.mark.parametrize(
    ("source", "title", "stem"),
    [
        (
            f"captured from some/BART, layer 3 (cross, {MODULE}), head 1, item 1 of 0–1, step 4",
            f"Layer 3 (cross, {MODULE}), head 1, item 1 of 0–1, step 4, of some/BART",
            f"BART_layer3_{MODULE}_head1_item1_step4",
        ),
        (
            f"captured from some/BART, layer 3 ({MODULE}), head 11, run 2",
            f"Layer 3 ({MODULE}), head 11, run 2, of some/BART",
            f"BART_layer3_{MODULE}_head11_run2",
        ),
        (
            "captured from a model, layer 0, head 1",
            "Layer 0, head 1, of a model",
            "a-model_layer0_head1",
        ),
        (
            "captured from M, layer 3 (cross), head 1, item 2 of 0–4, run 1, step 4",
            "Layer 3 (cross), head 1, item 2 of 0–4, run 1, step 4, of M",
            "M_layer3_cross_head1_item2_run1_step4",
        ),
        (
            "weights as given, of M, layer 3 (vision, attn), head 1, step 4",
            "Layer 3 (vision, attn), head 1, step 4, of M",
            "M_layer3_attn_head1_step4",
        ),
        (  # names of a stranger's making
            "captured from M, layer 3 (a/b\\c (d), ../e), head 1",
            "Layer 3 (a/b\\c (d), ../e), head 1, of M",
            "M_layer3_e_head1",
        ),
    ],
)
def test_a_captured_head_is_read_out_of_its_source(source, title, stem):
    head = read(source).recorded
    assert (head.heading, head.stem(*head.heads)) == (title, stem)
    assert head.source(*head.heads) == source


@pytest.mark.parametrize(
    "source",
    [
        "typed",
        "captured from M",
        "captured from M, layer 3 (x), head 1, and more",
        "captured from M, layer 3, head 1, item 2 of 2",  # counted from 1
        f"captured from M, layer {'9' * 5000}, head 1",
    ],
)
def test_other_sources_are_no_captured_head(source):
    assert read(source).recorded is None


def test_a_source_says_which_patches_the_keys_are():
    patches = Patches(2, 4, 2, 3, names=("[CLS]", "register 0", "register 1", "patch"), first=0)
    head = Recorded(3, (1,), "attn", "vision", model="M", patches=patches)
    said = "captured from M, layer 3 (vision, attn), head 1, 2 × 4 patches in blocks of 2 after 3"
    assert head.source(1) == f"{said} special tokens"
    assert read(head.source(1)).recorded.patches == Patches(2, 4, 2, 3)
    assert read(f"{said} special").recorded.patches == Patches(2, 4, 2, 3)
    for odd in ("2 × 4 patches after 3", "0 × 4 patches", "2 × 99999 patches", "2 x 4 patches"):
        found = read(f"captured from M, layer 3, head 1, {odd}").recorded
        assert found is None or found.patches is None


def test_the_name_of_a_file_is_not_too_long_for_a_file_system():
    source = f"captured from {'m' * 99}, layer 3 (cross, {'n.' * 60}attn), head 1"
    stem = read(source).recorded.stem(1)
    assert len(stem) < 180 and stem.endswith("attn_head1")


def heads_of(name):
    """Return each head of a capture, where it was recorded."""
    taken = load(name)
    return [
        taken.place(call, item, head)
        for call in taken
        for item, head in product(*map(range, call.Q.shape[:2]))
    ]


HEADS = [
    *(head for name in CAPTURES for head in heads_of(name)),
    *(replace(heads_of("verbs")[0], when=when) for when in ("step 4", "run 2, step 11")),
    Recorded(0, (0,), model="m"),
    Recorded(0, (1,), "", "cross", items=(1,), batch=3, model="m"),
    Recorded(0, (2,), "a (b), c", "vision", model="m"),
    Recorded(0, (2,), "a", "vision", model="m", patches=Patches(14, 21)),
    Recorded(0, (2,), "a", "vision", "run 1", model="m", patches=Patches(2, 4, 2, 3)),
    Recorded(0, (2,), "", "", "", (1,), 3, model="m", patches=Patches(1, 1, 1, 1)),
    Recorded(0, (2,), "a", "vision", model="m", patches=Patches(14, 21), given=True),
]


def test_a_link_brings_each_captured_head_back():
    for head in HEADS:
        came = Origin.of_head(head, np.eye(2), "a bias")
        back = read_origins(write_origins({"Q": came}))["Q"]
        assert back == came and back.recorded == came.recorded == head


@pytest.mark.parametrize(
    ("head", "model", "module"),
    [
        (Recorded(3, (1,), "a\n b", model=" my \0 model "), "my model", "a b"),
        (Recorded(3, (1,), "a", model="\n"), "a model", "a"),
    ],
)
def test_names_of_a_head_are_kept_as_a_link_says_them(head, model, module):
    came = Origin.of_head(head, np.eye(2))
    assert (came.recorded.model, came.recorded.module) == (model, module)
    assert read(came.source).recorded == came.recorded


def test_a_source_is_read_as_it_is_kept():
    head = read("captured from a\nb\tc\u202ed\x07e, layer 3,  head 1").recorded
    assert head == Recorded(3, (1,), model="a b c d e")


@pytest.mark.parametrize("names", [("m" * LONGEST_SOURCE, "M"), ("m", "M" * LONGEST_SOURCE)])
def test_a_head_with_names_too_long_for_a_link_is_known_as_the_link_says_it(names):
    came = Origin.of_head(Recorded(3, (1,), names[0], model=names[1]), np.eye(2))
    assert len(came.source) == LONGEST_SOURCE and read(came.source).recorded == came.recorded
