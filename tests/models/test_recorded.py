"""What tiny models of many families received and returned (record.py), verified without torch.

By the package, and by plain loops that share nothing with it.
"""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import messages
import numpy as np
import pytest

import attention
from attention.explain.view import View, distinct
from attention.limits import BadInput
from attention.models import examples, opening
from attention.models import taken as models_taken
from attention.models.examples import load
from attention.models.labels import words_of
from attention.models.snippet import LINES, SNIPPET
from attention.models.taken import Call, Taken, checked_tokens
from attention.readers.files import array_files

FILES = sorted(Path(__file__).with_name("recorded").glob("*.safetensors"))
DOCS = (Path(__file__).parents[2] / "docs" / "real-models.md").read_text(encoding="utf-8")
FAMILIES = {
    "bert",
    "encoder-layer",
    "gemma2",
    "gpt-neox",
    "gpt-oss",
    "gpt2",
    "llama",
    "mistral",
    "multihead",
    "plain",
    "qwen3",
    "roberta",
    "t5",
    "vit",
}


def recorded(name: str) -> Taken:
    return Taken.load(Path(__file__).with_name("recorded") / f"{name}.safetensors")


def looped(call: Call, item: int, head: int) -> list[list[float]]:
    """The output of one head, number by number."""
    key_head = head // (call.Q.shape[1] // call.K.shape[1])
    Q, K, V = call.Q[item, head], call.K[item, key_head], call.V[item, key_head]
    rows = []

    def cell(mask, i, j):
        at = zip((item, head, i, j), mask.shape, strict=True)
        return mask[tuple(k if n > 1 else 0 for k, n in at)]

    for i in range(len(Q)):
        grown = []
        for j in range(len(K)):
            if call.allowed is not None and not cell(call.allowed, i, j):
                grown.append(0.0)
                continue
            score = math.fsum(float(a) * float(b) for a, b in zip(Q[i], K[j], strict=True))
            score *= call.scale
            if call.softcap:
                score = call.softcap * math.tanh(score / call.softcap)
            if call.bias is not None:
                score += float(cell(call.bias, i, j))
            grown.append(math.exp(score))
        total = math.fsum(grown) + (0 if call.sinks is None else math.exp(call.sinks[head]))
        rows.append(
            [
                math.fsum(g / total * float(v[c]) for g, v in zip(grown, V, strict=True))
                for c in range(V.shape[1])
            ]
        )
    return rows


def test_all_families_are_there_and_say_with_which_versions_they_were_made():
    assert {file.stem for file in FILES} == FAMILIES
    for file in FILES:
        assert file.stat().st_size < 8_000
        taken = Taken.load(file)
        assert {"torch"} <= set(taken.versions), file
        assert taken.missed == [] and taken.model


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_a_model_answered_is_what_the_package_and_plain_loops_compute(file):
    taken = Taken.load(file)
    done = attention.verify(file)
    assert done.agrees and done.difference <= 1e-6, done
    for call in taken:
        for item, head in np.ndindex(call.Q.shape[:2]):
            wanted = looped(call, item, head)
            np.testing.assert_allclose(call.output[item, head], wanted, rtol=0, atol=1e-6)
            trace = call.trace(item, head)
            np.testing.assert_allclose(trace.output, wanted, rtol=0, atol=1e-12)
            whole = call.trace().output[item, head]
            np.testing.assert_allclose(whole, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["gpt-oss", "llama", "multihead", "t5"])
def test_a_trace_of_one_item_has_all_its_heads_and_of_one_head_all_items(name):
    for call in recorded(name):
        b, h, n_q = call.Q.shape[:3]
        item, head = b - 1, h - 1
        of_item, of_head = call.trace(item=item), call.trace(head=head)
        assert of_item.weights.shape == (1, h, n_q, call.K.shape[2])
        assert of_head.weights.shape == (b, 1, n_q, call.K.shape[2])
        for k in range(h):
            np.testing.assert_allclose(
                of_item.output[0, k], looped(call, item, k), rtol=0, atol=1e-12
            )
        for k in range(b):
            np.testing.assert_allclose(
                of_head.output[k, 0], looped(call, k, head), rtol=0, atol=1e-12
            )
        assert of_item.recorded.items == (item,) and of_item.recorded.batch == b
        assert of_head.recorded.heads == (call.number_of(head),)
        assert of_head.recorded.items == tuple(range(b))


def test_an_item_or_a_head_that_was_not_recorded_is_refused_with_those_that_were():
    call = examples.load("pronoun")[3]
    refused = {
        (0, 5): messages.NOT_RECORDED.format(
            name="head 5", there="heads 0 to 4 (1, 2, 5, 8, 11 of the model)"
        ),
        (1, 0): messages.NOT_RECORDED.format(name="item 1", there="only item 0"),
    }
    for (item, head), sentence in refused.items():
        with pytest.raises(BadInput) as problem:
            call.trace(item, head)
        assert str(problem.value) == sentence


def test_what_families_do_besides_was_recorded():
    assert recorded("gpt-oss")[0].sinks.shape == (4,)
    assert recorded("gemma2")[0].softcap == 50
    assert recorded("llama")[0].K.shape[1] == 2
    assert recorded("t5")[0].bias is not None and recorded("t5")[0].scale == 1
    assert recorded("t5")[2].K.shape[2] == 6 and recorded("t5")[2].Q.shape[2] == 4
    mistral = recorded("mistral")[0]
    assert mistral.window == 3 and not mistral.allowed[0, 0, 5, 2] and mistral.allowed[0, 0, 5, 3]
    assert recorded("bert").tokens == ["the", "cat", "sat", "on", "the", "mat"]
    assert recorded("encoder-layer")[0].replayed < 1e-6
    assert not recorded("multihead")[0].allowed[1, 0, 0, 4:].any()
    for causal in ("gpt2", "llama", "plain"):
        assert (recorded(causal)[0].allowed[0, 0] == attention.causal(6, 6)).all()


def test_a_capture_that_lost_something_is_found_out_and_said_by_diagnose():
    call = recorded("gpt2")[0]
    done = attention.verify(Taken("mine", calls=[replace(call, scale=1.0)]))
    assert not done.agrees and "the scale" in str(done).lower(), done
    assert messages.NOT_EXPLAINED.format(found=1, calls="1 call") in str(done)
    done = attention.verify(Taken("mine", calls=[replace(call, allowed=None)]))
    assert not done.agrees and messages.LOOK_AHEAD_AGREES in str(done)
    lost = (("mistral", "allowed"), ("gpt-oss", "sinks"), ("t5", "bias"), ("gemma2", "softcap"))
    for name, part in lost:
        lost = Taken("mine", calls=[replace(recorded(name)[0], **{part: None})])
        assert not attention.verify(lost).agrees, name
    sinks = recorded("gpt-oss")[0]
    shifted = replace(sinks, output=sinks.output + np.float32(0.01), notes=("this came as well",))
    assert "this came as well" in str(attention.verify(Taken("mine", calls=[shifted])))


@pytest.mark.parametrize("name", ["gpt2", "llama", "plain", "mistral"])
def test_print_names_a_look_ahead_mask_that_was_lost(name):
    call = recorded(name)[0]
    said = messages.LOOK_AHEAD_NOT_CAPTURED
    assert said not in str(Taken("mine", calls=[call]))
    lost = replace(call, allowed=None)
    assert said in str(Taken("mine", calls=[lost]))
    assert messages.LOOK_AHEAD_AGREES in str(attention.verify(Taken(calls=[lost])))


@pytest.mark.parametrize("name", ["bert", "vit", "roberta", "t5"])
def test_print_names_no_mask_where_none_was_lost(name):
    assert "look-ahead" not in str(recorded(name))
    shifted = replace(recorded(name)[0], output=recorded(name)[0].output + np.float32(0.1))
    assert "look-ahead" not in str(Taken("mine", calls=[shifted]))


def test_agreement_is_no_proof_where_rounding_explains_any_output():
    call = recorded("bert")[0]
    large = replace(call, Q=200 * call.Q, dtype="bfloat16")
    output = np.stack(
        [[large.trace(b, h).output for h in range(call.Q.shape[1])] for b in range(len(call.Q))]
    )
    large = replace(large, output=output.astype("f4"))
    done = attention.verify(Taken("mine", calls=[large]))
    assert done.agrees and messages.THAT_IS_NO_PROOF in str(done)
    assert messages.NO_PROOF in str(done.calls[0])
    zero = attention.verify(Taken("mine", calls=[replace(large, output=0 * large.output)]))
    assert zero.agrees and messages.NO_PROOF in str(zero)  # so it is
    one = call.Q * np.where(np.arange(call.Q.shape[1]) == 0, 200, 1)[:, None, None]
    mixed = replace(call, Q=one.astype("f4"), dtype="bfloat16")
    output = np.stack(
        [[mixed.trace(b, h).output for h in range(call.Q.shape[1])] for b in range(len(call.Q))]
    )
    mixed = attention.verify(Taken("mine", calls=[replace(mixed, output=output.astype("f4"))]))
    heads = call.Q.shape[0] * call.Q.shape[1]
    said = messages.NO_PROOF_FOR_HEADS.format(found=call.Q.shape[0], heads=heads)
    assert said in str(mixed), mixed


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_recorded_family_is_without_proof(path):
    said = str(attention.verify(path))
    assert messages.NO_PROOF not in said and messages.THAT_IS_NO_PROOF not in said
    assert messages.NO_PROOF_FOR_HEADS.partition("{")[0] not in said


def test_a_replay_that_lies_apart_and_dropout_are_said():
    call = replace(recorded("encoder-layer")[0], replayed=0.5)
    done = attention.verify(Taken("mine", calls=[call]))
    assert not done.agrees and done.difference == 0.5
    said = messages.ANSWERS_OTHERWISE.format(difference="5.0e-01", limit="1.2e-05")
    assert said in str(done)
    call = replace(recorded("bert")[0], dropout=0.1)
    call = replace(call, output=call.output * np.float32(1.1))
    said = messages.DROPOUT_WAS_ON.format(dropout=0.1)
    assert said in str(attention.verify(Taken("mine", calls=[call])))


def test_half_precision_explains_what_half_precision_does_and_no_more():
    call = recorded("llama")[0]
    bits = call.output.view(np.uint32) + np.uint32(0x8000) & np.uint32(0xFFFF0000)
    rounded = replace(call, output=bits.view(np.float32))  # to bfloat16
    assert not attention.verify(Taken("mine", calls=[rounded])).agrees
    assert attention.verify(Taken("mine", calls=[replace(rounded, dtype="bfloat16")])).agrees
    wrong = replace(call, output=call.output + np.float32(0.2), dtype="bfloat16")
    assert not attention.verify(Taken("mine", calls=[wrong])).agrees


def test_a_file_is_written_as_it_was_read_and_the_readers_of_the_page_take_it(tmp_path):
    for file in FILES:
        taken = Taken.load(file)
        taken.save(tmp_path / file.name)
        again = Taken.load(tmp_path / file.name)
        assert repr(again) == repr(taken) and again._header() == taken._header()
        assert taken.size == (tmp_path / file.name).stat().st_size
        for one, other in zip(taken, again, strict=True):
            assert one.arrays.keys() == other.arrays.keys()
            assert all((other.arrays[name] == M).all() for name, M in one.arrays.items())
    arrays = array_files.entries("bert.safetensors", FILES[0].read_bytes())
    np.testing.assert_array_equal(arrays["layers.1.Q"].read(), Taken.load(FILES[0])[1].Q)


def test_a_call_is_found_by_its_layer():
    taken = recorded("t5")
    assert len(taken) == 3 and taken.at(1, 0).module.endswith("SelfAttention")
    with pytest.raises(ValueError) as refused:
        taken[5]
    assert str(refused.value) == messages.LAYER_NOT_CAPTURED.format(
        layer=5, step="", there="layers 0, 1, 2"
    )


def test_what_cannot_be_saved_is_one_sentence_that_names_the_size(tmp_path):
    taken = recorded("bert")
    with pytest.raises(ValueError) as refused:
        taken.save(tmp_path / "run.npz")
    assert str(refused.value) == messages.SAFETENSORS_ENDING.format(name="'run.npz'")
    with pytest.raises(ValueError) as refused:
        Taken().save(tmp_path / "run.safetensors")
    assert str(refused.value) == messages.NOTHING_CAPTURED_YET
    call = taken[0]
    large = Taken("m", calls=[replace(call, V=np.zeros((1, 4, 6, 225_000), np.float32))])
    with pytest.raises(ValueError) as refused:
        large.save(tmp_path / "run.safetensors")
    assert str(refused.value) == messages.CANNOT_BE_SAVED.format(
        name="run.safetensors", why=messages.FILE_TOO_LARGE.format(size="21 MB", limit="20 MB")
    )
    assert not list(tmp_path.iterdir())
    large.save(tmp_path / "run.safetensors", large=True)
    assert (tmp_path / "run.safetensors").stat().st_size == large.size


def test_words_beyond_what_is_read_are_refused_before_they_are_written(tmp_path, monkeypatch):
    """The words stand in the header, of which a page reads less than of the file."""
    path, taken = tmp_path / "run.safetensors", recorded("bert")
    header = len(taken._header()) - 8
    for module in (models_taken, opening):
        monkeypatch.setattr(module, "MAX_HEADER", header)
    taken.save(path)
    assert len(opening.opened(path.read_bytes(), path.name)) == len(taken)
    monkeypatch.setattr(models_taken, "MAX_HEADER", header - 1)
    monkeypatch.setattr(opening, "MAX_HEADER", header - 1)
    found, limit = f"{header:,}", f"{header - 1:,}"
    many = messages.WORDS_TOO_LARGE.format(found=found, limit=limit)
    with pytest.raises(ValueError) as refused:
        taken.save(path)
    assert str(refused.value) == messages.CANNOT_BE_SAVED.format(name="run.safetensors", why=many)
    with pytest.raises(BadInput) as refused:
        opening.opened(path.read_bytes(), path.name)
    assert str(refused.value) == messages.HEADER_TOO_LARGE.format(
        place="run.safetensors", found=found, limit=limit
    )
    taken.save(path, large=True)
    assert len(Taken.load(path)) == len(taken)
    monkeypatch.setattr(models_taken, "MAX_HEADER_IN_PYTHON", header - 1)
    with pytest.raises(ValueError) as refused:
        taken.save(path, large=True)
    assert str(refused.value) == f"run.safetensors {many}."
    with pytest.raises(BadInput) as refused:
        Taken.load(path)
    assert str(refused.value) == messages.HEADER_TOO_LARGE.format(
        place="run.safetensors", found=found, limit=limit
    )


def test_other_and_damaged_files_are_one_sentence(tmp_path):
    content = FILES[0].read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])

    def written(header) -> bytes:
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + content[8 + length :]

    assert len(Taken.of_bytes(written(header))) == 2
    about = json.loads(header["__metadata__"]["attention_capture"])
    del about["layers"]["layers.0"]["scale"]
    no_scale = {"attention_capture": json.dumps(about)}
    other = header["layers.0.Q"] | {"shape": [1, 4, 3, 8]}
    negative = header["layers.0.Q"] | {"data_offsets": [-384, 0]}
    for damaged, sentence in (
        (b"", messages.CAPTURE_CUT_OFF),
        (content[:100], messages.CAPTURE_CUT_OFF),
        (content[:-1], messages.DAMAGED_CAPTURE),
        (written({"a": header["layers.0.Q"]}), messages.NO_CAPTURE),
        (written(header | {"__metadata__": no_scale}), messages.DAMAGED_CAPTURE),
        (written(header | {"layers.0.Q": other}), messages.DAMAGED_CAPTURE),
        (written(header | {"layers.0.Q": negative}), messages.DAMAGED_CAPTURE),
    ):
        with pytest.raises(BadInput) as refused:
            Taken.of_bytes(damaged)
        assert str(refused.value) == sentence.format(place="the file")
    with pytest.raises(ValueError) as refused:
        attention.verify(Taken())
    assert str(refused.value) == messages.NOTHING_TO_VERIFY


def test_tokens_are_words():
    assert checked_tokens(["a", "b"]) == ["a", "b"]
    assert checked_tokens([["a"], ("b",)]) == [["a"], ["b"]]
    with pytest.raises(TypeError) as refused:
        checked_tokens("the cat")
    assert str(refused.value) == messages.TOKENS_EXPECTED.format(tokens="'the cat'")
    with pytest.raises(TypeError) as refused:
        checked_tokens([["a", 3]])
    assert str(refused.value) == messages.TOKENS_ARE_WORDS.format(found=3)


def test_the_documentation_has_the_snippet_and_a_row_for_each_family_with_versions():
    opens = "import torch$|from transformers import Auto|name = |tokenizer, model = |inputs = tok"
    blocks = [
        [line for line in block.splitlines() if line and not re.match(opens, line)]
        for block in re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    ]
    for code in (SNIPPET, LINES):  # with a model, which the page has no lines for
        assert [line for line in code.splitlines() if line] in blocks
    assert len(LINES.splitlines()) <= 11
    lines = [line for line in SNIPPET.splitlines() if line]
    assert len(lines) <= 24 and max(map(len, lines)) <= 88
    table = DOCS.split("<!-- recorded -->")[1]
    assert re.search(r"torch [\d.+cpu]+, transformers [\d.]+, NumPy", table)
    for file in FILES:
        assert f"| {Taken.load(file).model} |" in table
    assert "| no |" not in table


def test_what_the_ten_lines_do_after_the_model_ran_needs_no_torch(tmp_path, monkeypatch):
    pytest.importorskip("plotly", reason="the extra [app] is not installed")
    monkeypatch.chdir(tmp_path)
    Q = np.random.default_rng(0).normal(size=(1, 8, 6, 4))
    call = Call(3, 0, "layer.3", Q, Q, Q, Q, 0.5, dtype="float64")
    taken = Taken("mine", calls=[replace(call, output=call.trace().output)])
    named = {"attention": attention, "taken": taken, "words": recorded("bert").tokens}
    exec(LINES.split("model(**inputs)\n")[1], named)
    assert attention.verify("run.safetensors").agrees
    np.testing.assert_array_equal(named["trace"].Q, Q[0, 5])


def test_a_trace_of_a_capture_has_the_words_of_its_item_in_figures_and_frames():
    taken = load("verbs")
    queries, keys = words_of(taken, taken[0], 1)
    assert queries == keys and queries != words_of(taken, taken[0], 0)[0]
    one = attention.trace_of(taken, 0, item=1, head=0)
    whole = attention.trace_of(taken, taken[0])
    for view in (View.of(one), View.of(whole, item=1)):
        assert view.labels["queries"] == view.labels["keys"] == distinct(queries)
    assert one.recorded.model == taken.model and one.recorded.items == (1,)
    np.testing.assert_array_equal(one.weights, taken[0].trace(1, 0).weights)
    assert attention.frame(one, "weights").index.tolist() == list(distinct(queries))
    assert (
        attention.frame(whole, "weights").index.get_level_values("query")[0] == "1"
    )  # they differ
    given = View.of(one, tokens=[str(k) for k in range(len(queries))])
    assert given.labels["queries"][0] == "0"


def test_a_trace_of_cross_attention_has_the_words_of_both_sequences():
    taken = recorded("t5")
    call = next(call for call in taken if call.kind == "cross")
    queries, keys = words_of(taken, call, 0)
    view = View.of(attention.trace_of(taken, call, item=0, head=0))
    assert view.labels["queries"] == distinct(queries) and view.labels["keys"] == distinct(keys)


def test_sequences_of_two_nouns_and_learned_keys_have_names_of_their_own(tmp_path):
    """As joint attention and memory keys have them; also of names that capture never writes."""
    M = np.ones((1, 1, 5, 4), np.float32)
    joint = Call(0, 0, "attn", M, M, M, M, 1.0, kind="vision", names=("text:2", "place"))
    joint = replace(joint, key_names=("place:3", "text"))
    taken = Taken("mine", calls=[joint])
    taken.save(tmp_path / "run.safetensors")
    taken = Taken.load(tmp_path / "run.safetensors")
    assert words_of(taken, taken[0], 0) == (
        ("text 0", "text 1", "place 0", "place 1", "place 2"),
        ("place 0", "place 1", "place 2", "text 0", "text 1"),
    )
    odd = replace(joint, names=(":2", "a:" + "9" * 5000, "a:b", "place"))
    assert words_of(Taken(calls=[odd]), odd, 0)[0][::2] == (":2", "a:b", "place 1")
    facts = {"kind": "decoder", "query_position": 0, "key_position": -2, "memory": 2}
    call = Call(0, 0, "attn", M[:, :, :3], M, M, M[:, :, :3], 1.0, **facts)
    taken = Taken("mine", tokens=list("abc"), calls=[call])
    taken.save(tmp_path / "run.safetensors")
    found = Taken.load(tmp_path / "run.safetensors")
    keys = ("memory 0", "memory 1", *"abc")
    assert words_of(found, found[0], 0) == (tuple("abc"), keys)
    mask = np.tri(3, 5, 2, dtype=bool)[None, None]  # without positions, by the mask
    call = replace(call, query_position=None, key_position=None, allowed=mask)
    taken.calls = [call]
    assert words_of(taken, call, 0) == (tuple("abc"), keys)
    taken.calls = [replace(call, key_position=-3, query_position=0)]
    taken.save(tmp_path / "run.safetensors")
    with pytest.raises(BadInput):
        Taken.load(tmp_path / "run.safetensors")


def read_twice(K: np.ndarray, other: np.ndarray, **facts) -> Taken:
    """Two runs of one layer over keys (n, d), each its own queries and values."""
    calls = []
    for run, M in enumerate((K, other)):
        M = M[None, None].astype(np.float32)
        facts |= {"query_position": 0, "key_position": 0, "kind": "encoder"}
        calls.append(Call(0, run, "layer.0.attn", M, M, M, M, 1.0, run=run, repeat="run", **facts))
    return Taken("mine", calls=calls)


def test_a_second_run_has_the_words_up_to_where_its_keys_differ(tmp_path):
    K = np.random.default_rng(0).normal(size=(6, 4))
    longer = np.vstack([K, K[:2]])
    longer[4] += 1
    taken = read_twice(K, longer)
    for words, right in (
        ("abcdef", ["abcdef", (*"abcd", "w5", "w6", "w7", "w8")]),
        ("abcdefgh", [(*"abcd", "w5", "w6"), "abcdefgh"]),  # words of the second
    ):
        taken.tokens = list(words)
        taken.save(tmp_path / "run.safetensors")
        found = Taken.load(tmp_path / "run.safetensors")
        assert [words_of(found, call, 0) for call in found] == [(tuple(w), tuple(w)) for w in right]


def test_tokens_that_were_cropped_from_the_cache_are_candidates(tmp_path):
    M = np.ones((1, 1, 6, 4), np.float32)
    facts = {"query_position": 0, "key_position": 0, "kind": "decoder"}
    for rejected, right in ((0, "abcdef"), (1, (*"abcde", "candidate")), (2, None)):
        right = right or (*"abcd", "candidate 1", "candidate 2")
        call = Call(0, 0, "layer.0.attn", M, M, M, M, 1.0, rejected=rejected, **facts)
        for tokens, shown in ((list("abcdef"), right), ([], None)):
            taken = Taken("mine", tokens=tokens, calls=[call])
            taken.save(tmp_path / "run.safetensors")
            found = Taken.load(tmp_path / "run.safetensors")
            counted = tuple(f"w{k}" for k in range(1, 7 - rejected)) + tuple(right[6 - rejected :])
            assert words_of(found, found[0], 0)[1] == tuple(shown or counted)
    part = replace(call, Q=M[:, :, 2:5], first_query=2, all_queries=6, query_position=2)
    part = replace(part, output=part.Q)
    assert words_of(Taken(calls=[part]), part, 0)[0] == ("w3", "w4", "candidate 1")
    for rejected in (-1, 1.5, "2"):
        taken.calls = [replace(call, rejected=rejected)]
        taken.save(tmp_path / "run.safetensors")
        with pytest.raises(BadInput) as refused:
            Taken.load(tmp_path / "run.safetensors")
        assert str(refused.value) == messages.DAMAGED_CAPTURE.format(place="run.safetensors")
