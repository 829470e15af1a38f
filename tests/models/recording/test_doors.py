"""What stands in the place of torch's functions while a block runs: heard in every thread, by every
name, compiled or not, and gone at the end.
"""

import functools
import gc
import subprocess
import sys
from itertools import permutations
from threading import Thread
from weakref import ref

import messages
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
pytest.importorskip("transformers", reason="the models come from transformers, not installed here")

from models.families import GPT, IDS, SHARED, Plain, Wrapped, encoder, made, x  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.functional import scaled_dot_product_attention  # noqa: E402
from transformers import AutoModelForCausalLM, cache_utils  # noqa: E402
from transformers.modeling_utils import AttentionInterface  # noqa: E402

import attention  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
BOTH = ("eager", "sdpa")
GREEDY = {"max_new_tokens": 4, "do_sample": False, "eos_token_id": None, "pad_token_id": 0}
HEARD = ("softmax", "log_softmax", "matmul", "bmm", "baddbmm", "einsum", "compile")
METHODS = ("softmax", "log_softmax", "matmul", "bmm", "baddbmm", "__matmul__")


def functions():
    """All that may be replaced, to see whether it is there again."""
    of_torch = [getattr(torch, name) for name in HEARD]
    methods = [vars(torch.Tensor).get(name) for name in METHODS]
    attends = (nn.functional.scaled_dot_product_attention, scaled_dot_product_attention)
    flex = sys.modules.get("torch.nn.attention.flex_attention")
    more = [nn.Module._call_impl, flex and flex.flex_attention, stance()]
    return [*of_torch, *methods, *attends, *more]


def stance():
    dynamo = sys.modules.get("torch._dynamo.eval_frame")
    return dynamo and dynamo._stance


@pytest.fixture(autouse=True)
def everything_is_as_it_was():
    before = functions()
    yield
    assert functions() == before


def gpt(way="sdpa", layers=2):
    return made("gpt2", GPT | {"n_layer": layers}, way, AutoModelForCausalLM)


def same_calls(one, other):
    """Compare two captures call by call."""
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert (mine.layer, mine.repeat == "step") == (theirs.layer, theirs.repeat == "step")
        assert mine.query_position == theirs.query_position
        np.testing.assert_array_equal(mine.trace().weights, theirs.trace().weights)


# ---- threads -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", BOTH)
@torch.no_grad()
def test_a_thread_is_recorded_as_a_plain_run_is(way):
    model, answers = gpt(way), []
    with attention.capture(model) as plain:
        before = model.generate(IDS, **GREEDY)
    with attention.capture(model) as taken:
        thread = Thread(target=lambda: answers.append(model.generate(IDS, **GREEDY)))
        thread.start()
        thread.join()
    assert torch.equal(answers[0], before)
    same_calls(list(plain), list(taken))
    assert [each.when for each in taken] == [each.when for each in plain]
    assert attention.verify(taken).agrees and "not captured" not in repr(taken)


@torch.no_grad()
def test_a_plain_function_is_heard_in_a_thread():
    model = Wrapped(Plain())
    before = model(x())
    with attention.capture(model) as taken:
        thread = Thread(target=lambda: taken.tokens.append(torch.equal(model(x()), before)))
        thread.start()
        thread.join()
        assert taken.tokens.pop()
    assert len(taken) == 1 and not taken[0].trace().allowed[0, 0, 0, 1]


@pytest.mark.parametrize("way", BOTH)
def test_several_threads_at_once_are_several_runs(way, monkeypatch):
    model, prompts = gpt(way), [torch.arange(3, 3 + n)[None] % 11 for n in (4, 6, 9)]
    plain = {}
    for prompt in prompts:
        with attention.capture(model) as taken:
            model.generate(prompt, **GREEDY)
        plain[prompt.shape[1]] = list(taken)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with attention.capture(model) as taken:
            others = [
                Thread(target=model.generate, args=(prompt,), kwargs=GREEDY)
                for prompt in prompts[1:]
            ]
            for thread in others:
                thread.start()
            model.generate(prompts[0], **GREEDY)
            for thread in others:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert {each.run for each in taken} == {0, 1, 2} and attention.verify(taken).agrees
    for run in range(3):
        mine = [each for each in taken if each.run == run]
        same_calls(plain[mine[0].Q.shape[2]], mine)
    for layer in range(2):
        calls = [each for each in taken if each.layer == layer]
        assert [each.call for each in calls] == list(range(12))
        assert [each.when for each in calls][::4] == ["", "run 4", "run 8"]


def test_blocks_of_two_threads_end_in_any_order():
    first, second = attention.capture(model := Wrapped(Plain())), attention.capture(model)
    one = first.__enter__()
    other = second.__enter__()
    model(x())
    first.__exit__(None, None, None)
    model(x())
    second.__exit__(None, None, None)
    assert (len(one), len(other)) == (1, 2)


@pytest.mark.parametrize("ends", list(permutations(range(3))))
@torch.no_grad()
def test_nothing_is_left_in_any_order_of_ends(ends):
    classes = cache_utils.Cache, AttentionInterface, nn.Module, nn.MultiheadAttention, torch.Tensor
    owners = *classes, nn.TransformerEncoderLayer, torch, nn.functional
    before = [(owner, name, id(it)) for owner in owners for name, it in vars(owner).items()]
    models = [gpt("sdpa") for _ in ends]
    blocks = [attention.capture(model) for model in models]
    taken = [block.__enter__() for block in blocks]
    for end in ends:
        models[end].generate(IDS, **GREEDY)
        blocks[end].__exit__(None, None, None)
    assert [(len(each), {call.query_position for call in each}) for each in taken] == [
        (8, {0, 6, 7, 8})
    ] * 3
    assert before == [(owner, name, id(vars(owner).get(name))) for owner, name, _ in before]
    there = [getattr(it, "__dict__", ()) for owner in owners for it in vars(owner).values()]
    assert not any("original" in each for each in there)
    held = [ref(model) for model in models]
    del models, blocks
    gc.collect()
    assert [model() for model in held] == [None] * 3


def test_the_fast_path_is_on_after_threads_that_took_it():
    model, threads = encoder(), []
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with attention.capture(model) as taken:
            for _ in range(4):
                ask = torch.no_grad()(lambda: [model(x()) for _ in range(6)])
                threads.append(Thread(target=ask))
                threads[-1].start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert taken[0].implementation == "nn.TransformerEncoderLayer, fast path" and len(taken) == 48
    assert torch.backends.mha.get_fastpath_enabled()


# ---- gradient checkpointing ----------------------------------------------------------------------


@pytest.mark.parametrize("way", BOTH)
@pytest.mark.parametrize("use_reentrant", [False, True])
@pytest.mark.parametrize("backward", ["loss.backward", "autograd.backward"])
def test_the_second_pass_has_the_weights_of_the_first(way, use_reentrant, backward):
    model = gpt(way).train()
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    with attention.capture(model) as plain:
        model(IDS)
    how = {"use_reentrant": use_reentrant}
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=how)
    with attention.capture(model) as taken:
        loss = model(IDS, labels=IDS).loss
        loss.backward() if backward == "loss.backward" else torch.autograd.backward([loss])
    again = [each for each in taken if each.call]
    assert [each.when for each in again] == ["recompute 1"] * 2
    assert attention.verify(taken).agrees
    for call in again:
        weights = plain[call.layer].trace().weights
        np.testing.assert_array_equal(call.trace().weights, weights)
        assert not np.triu(weights[0, 0], 1).any()


# ---- names ---------------------------------------------------------------------------------------


class ByName(nn.Module):
    def forward(self, x):
        return scaled_dot_product_attention(x, x, x)


class Kept(nn.Module):
    """Keeps the function itself, or something that has it."""

    def __init__(self, attend):
        super().__init__()
        self.attend = attend

    def forward(self, x):
        return self.attend(x, x, x)


def enclosed(function):
    def attend(Q, K, V):
        return function(Q, K, V)

    return lambda *given: attend(*given)


def defaulted(Q, K, V, attend=scaled_dot_product_attention):
    return attend(Q, K, V)


@pytest.mark.parametrize(
    "make",
    [
        ByName,
        lambda: Kept(scaled_dot_product_attention),
        lambda: Kept(functools.partial(scaled_dot_product_attention, is_causal=True)),
        lambda: Kept(enclosed(scaled_dot_product_attention)),
        lambda: Kept(defaulted),
    ],
)
@torch.no_grad()
def test_the_function_is_heard_by_whatever_name_a_module_has_for_it(make):
    model, given = nn.Sequential(make()), torch.randn(2, 3, 5, 4)
    kept = getattr(model[0], "attend", None)
    before, state = model(given), getattr(kept, "func", kept)
    for _ in range(2):
        with attention.capture(model) as taken:
            assert torch.equal(model(given), before)
        assert len(taken) == 1 and attention.verify(taken).agrees
    assert getattr(kept, "func", kept) is state and model[0].__dict__.get("attend") is kept
    assert defaulted.__defaults__ == (nn.functional.scaled_dot_product_attention,)


def test_what_is_imported_inside_of_a_block_is_as_it_was_afterwards(tmp_path, monkeypatch):
    (tmp_path / "imported_within.py").write_text(
        "from torch import softmax\nfrom torch.nn.functional import scaled_dot_product_attention\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = torch.softmax
    with attention.capture(model := Wrapped(Plain())):
        import imported_within

        assert imported_within.softmax is not before
        model(x())
    assert imported_within.softmax is before
    assert imported_within.scaled_dot_product_attention is scaled_dot_product_attention
    monkeypatch.delitem(sys.modules, "imported_within")


def test_after_an_exception_nothing_is_left():
    before = functions()
    for model in (gpt(), Wrapped(encoder()), Wrapped(Plain())):
        with pytest.raises(KeyError), attention.capture(model):
            assert functions() != before
            model(IDS if hasattr(model, "config") else x())
            raise KeyError
        assert functions() == before


# ---- compiled code -------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", ["inside", "before"])
@torch.no_grad()
def test_a_compiled_forward_runs_uncompiled(compiled):
    model = made("llama", SHARED, "sdpa")
    before = model(IDS)[0]
    if compiled == "before":
        model.forward = torch.compile(model.forward, backend="eager")
        model(IDS)
    with attention.capture(model) as taken:
        if compiled == "inside":
            model.forward = torch.compile(model.forward, backend="eager")
        assert torch.equal(model(IDS)[0], before)
    assert len(taken) == 2 and attention.verify(taken).agrees
    assert torch.equal(model(IDS)[0], before)  # compiled again


# ---- flex_attention ------------------------------------------------------------------------------


class Flex(nn.Module):
    def __init__(self, **given):
        super().__init__()
        self.qkv, self.given = nn.Linear(16, 48), given

    def forward(self, x):
        from torch.nn.attention.flex_attention import flex_attention

        Q, K, V = self.qkv(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        return flex_attention(Q, K, V, **self.given)


def by_distance(score, item, head, query, key):
    return score + (query - key) * 0.5 * (head + 1)


def capped(score, item, head, query, key):
    return 2 * torch.tanh(score / 2)


def ahead(score, item, head, query, key):
    return torch.where(query >= key, score, -float("inf"))


FIRST_IMPORTED = """
import sys
import torch
import attention

class Flex(torch.nn.Module):
    def forward(self, x):
        from torch.nn.attention.flex_attention import flex_attention

        return flex_attention(x, x, x)

assert "torch.nn.attention.flex_attention" not in sys.modules
model = Flex()
with torch.no_grad(), attention.capture(model) as taken:
    model(torch.ones(1, 1, 3, 4))
print(taken[0].implementation)
"""


def test_flex_attention_that_a_model_imports_first_is_recorded():
    command = [sys.executable, "-c", FIRST_IMPORTED]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.stdout == "flex_attention\n", ran.stderr


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("change", [None, by_distance, capped, ahead])
@torch.no_grad()
def test_flex_attention_is_recorded_with_its_mask_and_score_mod(mask, change):
    from torch.nn.attention.flex_attention import create_block_mask

    given = {"score_mod": change, "scale": 0.3}
    if mask:
        seen = lambda item, head, query, key: query >= key  # noqa: E731
        given["block_mask"] = create_block_mask(seen, None, None, 6, 6, device="cpu")
    model = nn.Sequential(Flex(**given))
    before = model(x())
    with attention.capture(model) as taken:
        assert torch.equal(model(x()), before)
    (call,) = taken
    assert call.implementation == "flex_attention" and taken.missed == []
    assert attention.verify(taken).agrees
    assert call.notes == ((messages.SCORE_MOD_CHANGES,) if change is capped else ())
    # one score after the other, by the functions themselves
    for b, h, i in np.ndindex(2, 4, 6):
        scores = [torch.tensor(float(call.Q[b, h, i] @ call.K[b, h, k]) * 0.3) for k in range(6)]
        if change:
            scores = [
                change(s, b, h, torch.tensor(i), torch.tensor(k)) for k, s in enumerate(scores)
            ]
        scores = [s if k <= i or not mask else torch.tensor(-np.inf) for k, s in enumerate(scores)]
        right = torch.stack(scores).softmax(0)
        np.testing.assert_allclose(call.trace(b, h).weights[i], right, rtol=0, atol=1e-6)


class CompiledFlex(nn.Module):
    def forward(self, x):
        return compiled_flex(x, x, x)  # noqa: F821


@torch.no_grad()
def test_flex_attention_that_was_compiled_stays_compiled_and_is_recorded(monkeypatch):
    from torch.nn.attention.flex_attention import flex_attention

    made_of_it = torch.compile(flex_attention)
    monkeypatch.setitem(globals(), "compiled_flex", made_of_it)
    model, given = nn.Sequential(CompiledFlex()), torch.randn(1, 2, 6, 16)
    before = model(given)
    with attention.capture(model) as taken:
        assert torch.equal(model(given), before)
    assert taken[0].implementation == "flex_attention" and attention.verify(taken).agrees
    assert compiled_flex is made_of_it  # noqa: F821
