"""``attention.capture`` on tiny models, where torch and transformers are installed; CI has neither.

What they recorded is tested without them in test_recorded.py.
"""

import re
import sys
from threading import Thread

import messages
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
transformers = pytest.importorskip(
    "transformers", reason="the families come from transformers, which is not installed here"
)

from models.families import (  # noqa: E402
    FAMILIES,
    IDS,
    SHARED,
    SMALL,
    T5,
    TORCH,
    UNKNOWN,
    WORDS,
    ByHand,
    Plain,
    Wrapped,
    encoder,
    inputs,
    made,
    multi_head,
    x,
)
from torch import nn  # noqa: E402

import attention  # noqa: E402
from attention.models.labels import words_of  # noqa: E402
from attention.models.snippet import LINES, SNIPPET  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
EACH = [(name, way) for name, (_, _, ways) in FAMILIES.items() for way in ways]
PADDED = torch.tensor([[3, 4, 5, 6, 3, 7], [3, 4, 5, 6, 0, 0]])
BOTH = ("eager", "sdpa")


def first(answer):
    return answer if isinstance(answer, torch.Tensor) else answer[0]


def doors():
    """What capture replaces, to see whether it stands there again."""
    from torch.overrides import _get_current_function_mode_stack
    from transformers.modeling_utils import AttentionInterface

    classes = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerEncoder)
    forwards = [vars(each)["forward"] for each in classes]
    return [
        vars(AttentionInterface)["get_interface"],
        nn.functional.scaled_dot_product_attention,
        *forwards,
        list(_get_current_function_mode_stack()),
    ]


@pytest.fixture(autouse=True)
def everything_is_as_it_was():
    before = doors()
    yield
    assert doors() == before


@pytest.mark.parametrize(("name", "way"), EACH)
@torch.no_grad()
def test_a_family_answers_as_ever_and_is_verified(name, way):
    kind, settings, _ = FAMILIES[name]
    model, asked = made(kind, settings, way), inputs(kind)
    implementation = model.config._attn_implementation
    before = first(model(**asked))
    with attention.capture(model) as taken:
        within = first(model(**asked))
    assert torch.equal(before, within) and torch.equal(before, first(model(**asked)))
    assert model.config._attn_implementation == implementation
    done = attention.verify(taken)
    assert done.agrees and done.difference < 2e-6, done
    assert taken.missed == []


@pytest.mark.parametrize("name", TORCH)
@pytest.mark.parametrize("gradients", [False, True])
def test_layers_of_torch_answer_as_ever_on_each_of_their_paths(name, gradients):
    make, args, more = TORCH[name]
    for model in (make(), Wrapped(make())):
        with torch.set_grad_enabled(gradients):
            before = first(model(*args, **more))
            with attention.capture(model) as taken:
                within = first(model(*args, **more))
        assert torch.equal(before, within)
        done = attention.verify(taken)
        assert done.agrees and done.difference < 2e-6, done
        if "fast path" in name:
            assert all(("fast path" in each.implementation) != gradients for each in taken)


class OneMask(nn.Module):
    """torch's own function, with a mask that is added."""

    def __init__(self, mask):
        super().__init__()
        self.mask = mask

    def forward(self, query):
        F = nn.functional
        return F.scaled_dot_product_attention(query, query, query, attn_mask=self.mask)


@pytest.mark.parametrize(
    ("lead", "sides"),
    [
        ((2, 2), (2,)),
        ((3, 2), (2,)),
        ((2, 2), (2, 1)),
        ((2, 2), (1, 2)),
        ((2,), (2,)),
        ((2,), (1,)),
        ((2, 3, 2), (2,)),
        ((2, 3, 2), (3, 2)),
        ((2, 3, 2), (3, 1)),
        ((2, 3, 2), (2, 1, 2)),
    ],
)
@torch.no_grad()
def test_a_mask_of_fewer_axes_is_recorded_as_torch_reads_it(lead, sides):
    torch.manual_seed(0)
    model = nn.Sequential(OneMask(3 * torch.randn(*sides, 3, 3)))
    with attention.capture(model) as taken:
        model(torch.randn(*lead, 3, 4))
    assert attention.verify(taken).agrees


@pytest.mark.parametrize("kind", ["bert", "llama"])
@torch.no_grad()
def test_a_boolean_mask_hides_in_sdpa_and_is_added_in_eager(kind):
    look = torch.ones(6, 6).tril().bool()[None, None]
    model = made(kind, SHARED if kind == "llama" else SMALL, "eager")
    with attention.capture(model) as taken:
        own = model(IDS, attention_mask=look, output_attentions=True).attentions
    assert attention.verify(taken).agrees
    for call, weights in zip(taken, own, strict=True):
        np.testing.assert_allclose(call.trace().weights, weights, rtol=1e-5, atol=1e-7)
        assert "hides nothing" in " ".join(call.notes)
    model.set_attn_implementation("sdpa")
    with attention.capture(model) as taken:
        model(IDS, attention_mask=look)
    assert attention.verify(taken).agrees and not taken[0].notes
    assert (np.triu(taken[0].trace().weights[0, 0], 1) == 0).all()


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_model_without_a_known_door_is_an_error_that_names_its_modules(name):
    model = made(*UNKNOWN[name], "eager")
    passed = re.escape(messages.NO_KNOWN_DOOR.partition("{")[0])
    with pytest.raises(ValueError, match=f"^{passed}.*att"), attention.capture(model):
        model(input_ids=IDS)
    if model._supports_sdpa:
        hint = re.escape(messages.LOAD_WITH_SDPA)
        with pytest.raises(ValueError, match=f"{hint}$"), attention.capture(model):
            model(input_ids=IDS)


def test_a_compiled_model_is_refused_before_it_runs():
    compiled = torch.compile(Wrapped(Plain()), backend="eager")
    for model in (compiled, Wrapped(compiled)):
        with pytest.raises(ValueError) as refused:
            attention.capture(model).__enter__()
        assert str(refused.value) == messages.COMPILED_MODEL
    with attention.capture(compiled._orig_mod) as taken:
        compiled._orig_mod(x())
    assert attention.verify(taken).agrees


@torch.no_grad()
def test_one_capture_within_another():
    for model, asked in (
        (made("llama", SHARED, "sdpa"), IDS),
        (Wrapped(encoder()), x()),
        (Plain(), x()),
    ):
        before = first(model(asked))
        with attention.capture(model) as outer, attention.capture(model) as inner:
            assert torch.equal(first(model(asked)), before)
        assert len(outer) == len(inner) > 0
        assert attention.verify(outer).agrees and attention.verify(inner).agrees


class OneBuffer(nn.Module):
    """Keys in memory that is used again for a text of another length."""

    def __init__(self):
        super().__init__()
        self.keys = torch.empty(0)

    def forward(self, query):
        self.keys.resize_(query.shape).copy_(query)
        answer = nn.functional.scaled_dot_product_attention(query, self.keys, self.keys)
        return answer.clone(), answer.resize_(0)


@torch.no_grad()
def test_the_memory_of_the_model_can_be_resized_during_a_capture_and_after_it():
    model, asked = OneBuffer(), [torch.randn(1, 2, n, 4) for n in (5, 9, 3)]
    with attention.capture(model) as taken:
        answers = [first(model(each)) for each in asked[:2]]
    assert first(model(asked[2])).shape == asked[2].shape
    for call, query, answer in zip(taken, asked, answers, strict=False):
        np.testing.assert_array_equal(call.K, query.numpy())
        np.testing.assert_array_equal(call.output, answer.numpy())


@torch.no_grad()
def test_a_device_that_was_set_inside_stays_set():
    model, asked = Wrapped(encoder()), x()
    with attention.capture(model) as taken, torch.device("meta"):
        model(asked)
        assert torch.empty(1).device.type == "meta"
    assert attention.verify(taken).agrees and doors()[-1] == []


@torch.no_grad()
def test_a_layer_of_torch_runs_in_another_thread():
    model, asked, answers = Wrapped(encoder()), x(), []
    before = model(asked)
    with attention.capture(model) as taken:
        thread = Thread(target=torch.no_grad()(lambda: answers.append(model(asked))))
        thread.start()
        thread.join()
    assert torch.equal(answers[0], before) and attention.verify(taken).agrees


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("gradients", [False, True])
def test_queries_whose_every_key_is_hidden(weights, gradients):
    model = Wrapped(multi_head())
    hidden = torch.tensor([[False] * 6, [True] * 6])
    with torch.set_grad_enabled(gradients), attention.capture(model) as taken:
        answer = model(x(), x(), x(), key_padding_mask=hidden, need_weights=weights)[0]
    done = attention.verify(taken)
    assert done.agrees, done
    assert bool(answer.isnan().any()) == (messages.MODULE_ANSWERS_NAN in str(done))


def test_gradients_are_what_they_are():
    model = made("llama", SHARED, "sdpa")

    def gradients():
        model.zero_grad()
        model(IDS)[0].square().sum().backward()
        return [each.grad.clone() for each in model.parameters() if each.grad is not None]

    before = gradients()
    with attention.capture(model):
        within = gradients()
    assert before and all(map(torch.equal, before, within))


def test_what_takes_a_softmax_by_itself_is_listed_beside_what_was_captured():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.known, self.other = Plain(), ByHand()

        def forward(self, x):
            return self.known(x), self.other(x)

    model = Two()
    with attention.capture(model) as taken:
        model(x())
    assert taken.missed == ["other"] and [each.module for each in taken] == ["known"]
    assert messages.NOT_CAPTURED.format(names="other") in repr(taken)
    alone = Wrapped(ByHand())
    with pytest.raises(ValueError) as refused, attention.capture(alone):
        alone(x())
    assert str(refused.value) == messages.NO_KNOWN_DOOR.format(names="inner", hint="")
    passed = re.escape(messages.NO_KNOWN_DOOR.partition("{")[0])
    with pytest.raises(ValueError, match=f"^{passed}"), attention.capture(model):
        Two()(x())  # another model than the one that is listened to
    with pytest.raises(TypeError) as refused:
        attention.capture("gpt2").__enter__()
    assert str(refused.value) == messages.NOT_A_MODULE.format(kind="str")


@pytest.mark.parametrize("model", [made("llama", SHARED, "sdpa"), Wrapped(multi_head()), Plain()])
def test_an_exception_inside_goes_on_and_leaves_everything_as_it_was(model):
    before = doors()
    with pytest.raises(RuntimeError, match="of my own"), attention.capture(model):
        assert doors() != before
        raise RuntimeError("of my own")
    assert doors() == before
    with pytest.raises((RuntimeError, TypeError, ValueError)), attention.capture(model):
        model(torch.ones(1, 2, 3, 4, 5))
    assert doors() == before


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("kind", ["bert", "llama", "mistral"])
@torch.no_grad()
def test_a_padded_batch(kind, left, way):
    ids = PADDED.flip(1) if left else PADDED
    model = made(kind, SMALL if kind == "bert" else SHARED | {"sliding_window": 3}, way)
    with attention.capture(model) as taken:
        model(input_ids=ids, attention_mask=(ids > 0).long())
    done = attention.verify(taken)
    assert done.agrees and done.difference < 2e-6, done
    real = taken[0].trace().allowed[1, 0, 3]
    assert real.tolist() == ([False, False] if left else []) + real.tolist()[2 * left :]
    assert not real[:2].any() if left else not real[4:].any()


@pytest.mark.parametrize("way", BOTH)
@torch.no_grad()
def test_steps_of_generate_with_a_cache_and_cross_attention(way):
    auto = transformers.AutoModelForCausalLM
    model = made("llama", SHARED, way, auto)
    options = {"max_new_tokens": 4, "do_sample": False, "eos_token_id": None}
    before = model.generate(IDS, **options)
    with attention.capture(model, layers=1, calls=[0, 2], heads=[1, 2]) as taken:
        assert torch.equal(model.generate(IDS, **options), before)
    assert [each.name for each in taken] == ["layers.1", "layers.1.call.2"]
    assert [each.Q.shape[1:3] for each in taken] == [(2, 6), (2, 1)]
    assert taken.at(1, 2).K.shape[2] == 8 and taken[1].heads == (1, 2)
    taken.tokens = [f"t{k}" for k in range(10)]
    assert words_of(taken, taken.at(1, 2), 0)[0] == ("t7",)
    assert attention.verify(taken).agrees
    with attention.capture(model, layers=0) as taken:
        model.generate(IDS, **options)
    assert np.shares_memory(taken.at(0, 1).K, taken.at(0, 3).K)  # copied once
    with attention.capture(model, layers=0) as taken:
        model.generate(IDS, **options, cache_implementation="static")
    assert attention.verify(taken).agrees and len(taken) == 4
    model = made("t5", T5, way, transformers.AutoModelForSeq2SeqLM)
    with attention.capture(model, layers="EncDecAttention") as taken:
        model.generate(PADDED, attention_mask=(PADDED > 0).long(), max_new_tokens=3)
    assert {each.K.shape[2] for each in taken} == {6} and {each.Q.shape[2] for each in taken} == {1}
    assert attention.verify(taken).agrees
    assert not taken.calls[0].trace().allowed[1, 0, 0, 4:].any()


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
@torch.no_grad()
def test_other_float_types(dtype, way, tmp_path):
    model = made("llama", SHARED, way).to(getattr(torch, dtype))
    with attention.capture(model) as taken:
        model(IDS)
    done = attention.verify(taken)
    assert done.agrees and taken[0].dtype == dtype, done
    taken.save(tmp_path / "run.safetensors")
    assert attention.verify(tmp_path / "run.safetensors").difference == done.difference


@torch.no_grad()
def test_layers_heads_and_queries_are_chosen_and_verified_all_the_same(tmp_path):
    model = made("mistral", SHARED | {"sliding_window": 3}, "sdpa")
    with attention.capture(model) as whole:
        model(IDS)
    asked = {"layers": ["layers.1."], "heads": 3, "queries": range(4, 6), "tokens": WORDS}
    with attention.capture(model, **asked) as taken:
        model(IDS)
    (call,) = taken
    assert (call.layer, call.heads, call.first_query, call.first_key) == (1, (3,), 4, 2)
    np.testing.assert_array_equal(call.Q, whole[1].Q[:, 3:, 4:6])
    np.testing.assert_array_equal(call.K, whole[1].K[:, 1:, 2:6])
    assert attention.verify(taken).agrees and taken.size < whole.size
    taken.save(tmp_path / "run.safetensors")
    again = attention.Taken.load(tmp_path / "run.safetensors")
    assert repr(again) == repr(taken) and again.tokens == WORDS
    assert words_of(again, again.calls[0], 0) == (tuple(WORDS[4:6]), tuple(WORDS[2:6]))
    for wrong, sentence in (
        ({"heads": [4]}, messages.NO_SUCH_HEAD.format(heads=4, heads_2=4)),
        (
            {"layers": [7]},
            messages.NOTHING_CHOSEN_CALLED.format(
                there="0 (layers.0.self_attn), 1 (layers.1.self_attn)"
            ),
        ),
        ({"queries": [0, 2]}, messages.RANGE_WITHOUT_GAPS.format(name="queries", given="[0, 2]")),
        ({"heads": [-1]}, messages.NUMBERS_FROM_0.format(name="heads", given="[-1]")),
        ({"layers": []}, messages.LAYERS_EXPECTED.format(given="[]")),
    ):
        with pytest.raises(ValueError) as refused, attention.capture(model, **wrong):
            model(IDS)
        assert str(refused.value) == sentence


def test_dropout_that_was_on_is_said():
    model = Wrapped(multi_head(dropout=0.5)).train()
    with attention.capture(model) as taken:
        model(x(), x(), x())
    assert messages.DROPOUT_WAS_ON.format(dropout=0.5) in str(attention.verify(taken))


def test_random_numbers_of_the_model_are_not_touched():
    for model in (encoder(), Wrapped(multi_head(dropout=0.5)).train()):
        given = (x(),) * (1 if isinstance(model, nn.TransformerEncoder) else 3)
        torch.manual_seed(5)
        model(*given)
        expected = torch.rand(3)
        torch.manual_seed(5)
        with attention.capture(model):
            model(*given)
        assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(("name", "way"), EACH)
def test_the_snippet_writes_what_verify_reads(name, way, tmp_path, monkeypatch):
    if way == "flex_attention" or name == "Falcon":
        pytest.skip("the snippet is for what asks the interface, with masks that are tensors")
    monkeypatch.chdir(tmp_path)
    kind, settings, _ = FAMILIES[name]
    model, asked = made(kind, settings, way), inputs(kind)
    exec(SNIPPET, {"model": model, "inputs": asked})
    done = attention.verify(tmp_path / "run.safetensors")
    assert done.agrees and done.difference < 2e-6, done
    with torch.no_grad(), attention.capture(model) as taken:
        model(**asked)
    for mine, theirs in zip(taken, attention.Taken.load("run.safetensors"), strict=True):
        for part in "QKV":
            np.testing.assert_array_equal(getattr(mine, part), getattr(theirs, part))


def test_the_ten_lines_of_the_documentation_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    drawn = []
    monkeypatch.setattr(attention, "figure", lambda *given, **more: drawn.append((given, more)))

    class Tokenizer:
        def convert_ids_to_tokens(self, ids):
            return WORDS[: len(ids)]

    more = {"num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 32}
    kind, settings, _ = FAMILIES["BERT"]
    model = made(kind, settings | more, "sdpa")
    named = {"torch": torch, "tokenizer": Tokenizer(), "model": model, "inputs": inputs(kind)}
    exec(LINES, named)
    assert "8 heads, " in capsys.readouterr().out and len(drawn) == 1
    trace = attention.Taken.load("run.safetensors")[3].trace(item=0, head=5)
    np.testing.assert_array_equal(drawn[0][0][0].weights, trace.weights)


def test_without_torch_it_says_where_it_is_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError) as refused:
        attention.capture(None).__enter__()
    assert str(refused.value) == messages.WITHOUT_TORCH
