"""Which head of which model some numbers are: titles and file names."""

import pytest

from attention.session.state.origin import Captured

MODULE = "decoder.layers.1.encoder_attn"


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
        (  # names of a stranger's making
            "captured from M, layer 3 (a/b\\c (d), ../e), head 1",
            "Layer 3 (a/b\\c (d), ../e), head 1, of M",
            "M_layer3_e_head1",
        ),
    ],
)
def test_a_captured_head_is_read_out_of_its_source(source, title, stem):
    head = Captured.of(source)
    assert (head.title, head.stem) == (title, stem)


@pytest.mark.parametrize(
    "source",
    [
        "typed",
        "captured from M",
        "captured from M, layer 3 (x), head 1, and more",
        "captured from M, layer 3, head 1, item 2 of 2",  # counted from 1
    ],
)
def test_other_sources_are_no_captured_head(source):
    assert Captured.of(source) is None


def test_the_name_of_a_file_is_not_too_long_for_a_file_system():
    source = f"captured from {'m' * 99}, layer 3 (cross, {'n.' * 60}attn), head 1"
    assert len(Captured.of(source).stem) < 180 and Captured.of(source).stem.endswith("attn_head1")
