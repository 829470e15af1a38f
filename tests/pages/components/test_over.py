"""The tab Over a picture: what the browser is sent, beside plain loops over the trace."""

from dataclasses import replace

import numpy as np
import pytest
from pages.conftest import link_of, ran, settings_of
from pages.test_explore import opened
from pages.test_real_model_page import file_of, page

from attention.core.recorded import Patches
from attention.models.examples import load
from attention.models.taken import Call, Taken
from attention.pages.components import over
from attention.pages.panels import cells, one_stage
from attention.session.bring.captured import with_head
from attention.session.state import links
from attention.session.state.examples import EXAMPLES
from attention.session.state.origin import Origin
from attention.session.state.run import run, view

CAT = EXAMPLES["cat-sat"].build()
NAMES = ("[CLS]", "register 0", "patch")


def captured(rows=2, columns=4, block=1, names=NAMES, hides=False):
    """A head of a tower that reads pictures, as settings, and its trace."""
    n = len(names) - 1 + rows * columns
    Q, K, V = np.random.default_rng(3).normal(size=(3, 1, 2, n, 4)).astype("f4")
    allowed = np.arange(n)[None, None, None] != n - 1 if hides else None
    sides = {"names": names, "key_names": names, "query_position": 0, "key_position": 0}
    call = Call(1, 0, "layers.1.attn", Q, K, V, np.zeros_like(V), 0.5, allowed, **sides)
    call = replace(call, kind="vision", grid=(rows, columns), grid_block=block)
    taken = Taken("tiny/ViT", calls=[call])
    return with_head(CAT, taken, call, 0, 1), call.trace(0, 1)


def shown(s, monkeypatch) -> tuple[over.Over, object]:
    """What the component is sent on the page, and the page."""
    found = []
    monkeypatch.setattr(over, "show", lambda key, what, on_asked: found.append((what, on_asked)))
    at = opened(**links.write(s))
    at = ran(at.button_group(key="set_below").set_value(one_stage.OVER))
    assert not at.exception
    ((what, on_asked),) = found[-1:]
    assert on_asked is cells.ask
    return what, at


@pytest.mark.parametrize("query", [0, 5])
def test_the_map_of_a_query_has_its_weights_at_the_patches_places(monkeypatch, query):
    s, trace = captured()
    what, at = shown(replace(s, query=query), monkeypatch)
    assert what.weights.shape == (2, 4) and not what.hidden.any()
    for row in range(2):
        for column in range(4):
            key = 2 + 4 * row + column
            assert what.weights[row, column] == pytest.approx(trace.weights[query, key], rel=1e-12)
            assert what.labels[4 * row + column] == f"patch {key - 2}"
            assert what.queries[4 * row + column] == key
    assert what.query == ("[CLS]", "patch 3")[query == 5] and what.own == (-1, 3)[query == 5]
    parts = dict(part.split(": ") for part in what.apart.replace("; ", ", ").split(", "))
    row = trace.weights[query]
    expected = {"[CLS]": row[0], "register 0": row[1], "all patches": sum(row[2:])}
    for name, weight in expected.items():
        assert float(parts[name]) == pytest.approx(weight, abs=0.005)
    assert "tiny/ViT" in what.title and "2 × 4 patches after 2 special tokens" in what.about
    assert what.file == "attention_ViT_layer1_layers.1.attn_head1_picture"
    assert settings_of(at).query == query


def test_patches_in_blocks_are_put_in_rows(monkeypatch):
    s, trace = captured(block=2, names=("patch",))
    what, _ = shown(s, monkeypatch)
    assert [label.removeprefix("patch ") for label in what.labels] == list("01452367")
    assert what.weights[1, 2] == pytest.approx(trace.weights[s.query, 6], rel=1e-12)
    assert what.apart == ""


def test_a_hidden_patch_is_said_to_be_hidden(monkeypatch):
    s, _ = captured(hides=True)
    what, _ = shown(s, monkeypatch)
    assert what.hidden.tolist() == [[False] * 4, [False, False, False, True]]


def test_the_component_is_sent_a_shade_and_a_number_for_each_patch(monkeypatch):
    s, trace = captured()
    sent = []
    monkeypatch.setattr(over.shaded, "show", lambda *given: sent.append(given))
    one_stage.over_picture(s, view(s, run(s)), Patches(2, 4, special=2))
    ((_, _, head, content, sends, handler),) = sent
    codes, values = content[:8], np.frombuffer(content[8:], "<f4")
    weights = trace.weights[s.query, 2:]
    np.testing.assert_allclose(values, weights, rtol=1e-6)
    assert list(codes) == np.rint(252 * weights / weights.max()).astype(int).tolist()
    assert (head["rows"], head["columns"], sends, handler) == (2, 4, "asked", cells.ask)
    assert head["largest"] == pytest.approx(weights.max())


def test_only_a_head_with_a_grid_has_the_tab():
    def tabs(s):
        at = opened(**links.write(s))
        return at.button_group(key="set_below").options, at

    s, _ = captured()
    names, at = tabs(s)
    assert one_stage.OVER in names
    assert link_of(at)  # the link holds the head, or names the state that does
    taken = load("pronoun")
    assert one_stage.OVER not in tabs(with_head(CAT, taken, taken[3], 0, 0))[0]
    assert one_stage.OVER not in tabs(CAT)[0]
    for wrong in (Patches(3, 5), Patches(0, 4), Patches(2, 4, 3, 2)):  # of a link made by hand
        place = replace(s.matrices["Q"].origin.recorded, patches=wrong)
        matrices = {
            name: replace(matrix, origin=Origin.of_head(place, matrix.values))
            for name, matrix in s.matrices.items()
        }
        assert one_stage.OVER not in tabs(replace(s, matrices=matrices))[0]


def test_on_long_context_a_row_is_over_the_picture_too(monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr(over, "show", lambda key, what, on_asked: found.append((what, on_asked)))
    Q = np.random.default_rng(4).normal(size=(1, 2, 9, 4)).astype("f4")
    names = {"names": ("[CLS]", "patch"), "key_names": ("[CLS]", "patch"), "grid": (2, 4)}
    call = Call(3, 0, "v", Q, Q, Q, np.zeros_like(Q), 0.5, kind="vision", **names)
    at = page(content=file_of(Taken("m", calls=[call]), tmp_path))
    ran(at.switch_page("attention/pages/long_context.py"))
    ran(at.selectbox(key="set_long_source").set_value("model"))
    ran(at.button(key="long_look").click())
    ran(at.selectbox(key="set_long_head").set_value(1))
    assert not found
    ran(at.toggle(key="set_long_over").set_value(True))
    what, _ = found[-1]
    row = call.trace(0, 1).weights[8]
    np.testing.assert_allclose(what.weights, row[1:].reshape(2, 4), rtol=1e-6)
    assert (what.query, what.own, what.queries) == ("patch 7", 7, list(range(1, 9)))
    assert what.file == "long_attention_m_layer3_v_head1_query9_picture"
    assert "layer 3 (vision, v)" in what.title and what.title.endswith("head 1 of 0–1")

    monkeypatch.setattr(over, "show", lambda key, what, on_asked: on_asked(2))  # a click
    ran(at)
    assert settings_of(at).long.query == 2
