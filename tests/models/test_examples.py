"""The captures of a trained model that come along: what they show, beside what the model answered.

``recorded/minilm.npz`` holds the weights that transformers' own eager attention gave for the same
sentences (record_minilm.py).
"""

from pathlib import Path

import numpy as np
import pytest

import attention
from attention.models.examples import CAPTURES, FOLDER, load
from attention.models.labels import words_of
from attention.models.survey import survey
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run

HERE = Path(__file__).parent
MODEL = np.load(HERE / "recorded" / "minilm.npz")


@pytest.mark.parametrize("name", CAPTURES)
def test_every_head_has_the_weights_and_the_output_that_the_model_itself_gave(name):
    taken = load(name)
    done = attention.verify(taken)
    assert done.agrees and done.difference < 1e-6, done
    for call in taken:
        np.testing.assert_allclose(
            call.trace().weights, MODEL[f"{name}.{call.layer}"], rtol=0, atol=2e-6
        )


def test_they_are_small_name_their_licence_and_all_of_the_model_that_is_in_them():
    files = list(FOLDER.iterdir())
    assert {file.stem for file in files} == {*CAPTURES, "NOTICE"}
    assert sum(file.stat().st_size for file in files) <= 300_000
    notice = (FOLDER / "NOTICE.md").read_text(encoding="utf-8")
    assert "Apache License 2.0" in notice and load("pronoun").model in notice
    assert load("pronoun").versions.keys() == {"torch", "transformers"}


def weight(name, layer, head, query, key, item=0):
    taken = load(name)
    call = taken[layer]
    words = words_of(taken, call, item)[0]
    A = call.trace(item, call.heads.index(head)).weights
    return A[words.index(query), words.index(key)], A[words.index(query)].max()


def test_the_notices_tell_the_truth():
    for layer, head in ((3, 1), (5, 11)):
        share, most = weight("pronoun", layer, head, "it", "animal")
        assert share == most > 0.6
    for item, (subject, other) in enumerate((("keys", "house"), ("cats", "mat"))):
        share, most = weight("verbs", 3, 1, "are", subject, item)
        assert share == most > 0.6 and weight("verbs", 3, 1, "are", other, item)[0] < 0.1
    before = load("pronoun")[0].trace(0, 1).weights
    assert before[np.arange(1, 15), np.arange(14)].min() > 0.99 and before[0, 0] > 0.99
    after = load("pronoun")[1].trace(0, 3).weights
    assert after[np.arange(14), np.arange(1, 15)].mean() > 0.5
    assert (after.argmax(axis=1)[1:14] == np.arange(2, 15)).sum() >= 10
    first = load("pronoun")[4].trace(0, 2).weights
    assert 0.88 < first[:, 0].mean() < 0.92
    assert "[PAD]" in load("verbs").tokens[1]
    assert not load("verbs")[3].trace(1, 0).weights[:, -2:].any()


def test_the_trained_heads_among_the_worked_examples_are_the_model_s_own():
    for name, layer, head in (("trained-it", 3, 0), ("trained-before", 0, 1)):
        s = EXAMPLES[name].build()
        A = run(s).weights
        np.testing.assert_allclose(A, MODEL[f"pronoun.{layer}"][0, head], rtol=0, atol=2e-6)
        assert list(s.tokens) == load("pronoun").tokens
    A = run(EXAMPLES["trained-it"].build()).weights[9]
    assert (round(A[2], 2), round(A[7], 2)) == (0.69, 0.05)


def test_the_measures_are_those_of_plain_loops():
    found = survey(load("verbs"))
    assert found.items == 2 and len(found.heads) == 8
    for head in found.heads:
        words = load("verbs").tokens[head.item]
        real = [k for k, word in enumerate(words) if word != "[PAD]"]
        A = MODEL[f"verbs.{head.layer}"][head.item, head.head].astype(float)[real]
        n = len(A)
        entropy = sum(-a * np.log(a) for row in A for a in row if a > 0) / n
        first = sum(row[0] for row in A) / n
        places = [(i, j) for i in range(n) for j in range(len(words))]
        distance = sum(A[i, j] * abs(real[i] - j) for i, j in places) / A.sum()
        said = {"entropy": entropy, "first": first, "distance": distance}
        for name, value in said.items():
            assert head.measures[name] == pytest.approx(value, abs=1e-5), name
        call = found.taken.calls[head.place]
        apart = np.abs(call.trace().output - call.output)[head.item, head.head].max()
        assert head.measures["difference"] == apart and head.agrees
