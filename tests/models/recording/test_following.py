"""What stands beside captured weights: whose words, at which positions, of which call and head."""

import re
from types import SimpleNamespace

import messages
import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
pytest.importorskip("transformers", reason="the models come from transformers, not installed here")

from models.families import BART, GPT, SHARED, SMALL, WORDS, made  # noqa: E402
from models.labelled import (  # noqa: E402
    CASES,
    GREEDY,
    SOURCE,
    VisionWindows,
    captured,
    wrong_labels,
    wrong_layers,
    wrong_positions,
)
from torch import nn  # noqa: E402
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM  # noqa: E402

import attention  # noqa: E402
from attention.models.kinds import Module  # noqa: E402
from attention.models.labels import first_token, label_note, positions_of, words_of  # noqa: E402
from attention.models.survey import survey  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
NAMES = [case.name for case in CASES]


@pytest.mark.parametrize("name", NAMES)
def test_layers_labels_and_positions_are_those_written_by_hand(name, tmp_path):
    case = CASES[NAMES.index(name)]
    if name in ("prefix tuning", "soft prompt"):
        pytest.importorskip("peft", reason="peft is not installed here")
    taken, told = captured(case)
    taken.save(tmp_path / "run.safetensors")
    for each in (taken, attention.Taken.load(tmp_path / "run.safetensors")):
        assert wrong_layers(case, each) == []
        assert wrong_labels(case, each) == []
        assert wrong_positions(case, each, told) == []
        assert case.note in label_note(each) and bool(case.note) == bool(label_note(each))
        assert attention.verify(each).agrees
    assert bool(told) == bool(case.own)


@pytest.mark.parametrize(
    ("kind", "tokens", "said"),
    [
        ("bert", WORDS[:4], messages.WORDS_DO_NOT_FIT.format(name="tokens", found=4, expected=6)),
        (
            "bert",
            [WORDS, WORDS],
            messages.LISTS_DO_NOT_FIT.format(name="tokens", found=2, items=1),
        ),
        (
            "bert",
            {"encoder": WORDS[:2]},
            messages.WORDS_DO_NOT_FIT.format(name="tokens['encoder']", found=2, expected=6),
        ),
        (
            "bert",
            {"decoder": WORDS},
            messages.TOKENS_NAME_NOTHING.format(
                name="'decoder'",
                modules="encoder.layer.0.attention.self, encoder.layer.1.attention.self",
            ),
        ),
        (
            "vit",
            {"attention": WORDS},
            messages.WORDS_DO_NOT_FIT.format(name="tokens['attention']", found=6, expected=5),
        ),
    ],
)
@torch.no_grad()
def test_tokens_that_fit_nothing_are_an_error_with_both_counts(kind, tokens, said):
    from models.families import VIT, inputs

    model = made(kind, VIT if kind == "vit" else SMALL, "sdpa")
    with pytest.raises(ValueError) as refused, attention.capture(model, tokens=tokens) as taken:
        model(**inputs(kind))
    assert str(refused.value) == said
    assert len(taken) and attention.verify(taken).agrees  # the run is there all the same
    taken.tokens = []
    assert label_note(taken) == ""


@torch.no_grad()
def test_a_list_for_a_tower_of_pictures_is_not_used_and_a_dict_is():
    from models.families import VIT, inputs

    model, asked = made("vit", VIT, "sdpa"), inputs("vit")
    with attention.capture(model, tokens=WORDS[:5]) as taken:
        model(**asked)
    counted = ("[CLS]", "patch 0", "patch 1", "patch 2", "patch 3")
    assert words_of(taken, taken[0], 0) == (counted, counted)
    assert label_note(taken) == messages.NO_WORDS_HERE.format(wanted='{"layers": …}')
    taken.tokens = {"layers": WORDS[:5]}
    assert words_of(taken, taken[0], 0)[1] == tuple(WORDS[:5]) and label_note(taken) == ""


@torch.no_grad()
def test_words_of_new_tokens_stand_behind_the_cache():
    model = made("gpt2", GPT, "sdpa", AutoModelForCausalLM)
    cache = model(SOURCE[:, :4], use_cache=True).past_key_values
    with attention.capture(model, tokens=["new", "er"]) as taken:
        model(SOURCE[:, 4:], past_key_values=cache)
    assert positions_of(taken, taken[0]) == (4, 0)
    assert words_of(taken, taken[0], 0) == (("new", "er"), ("w1", "w2", "w3", "w4", "new", "er"))


@pytest.mark.parametrize("implementation", ["dynamic", "static"])
@torch.no_grad()
def test_on_the_first_is_the_share_of_the_first_token_or_nothing(implementation):
    model = made("mistral", SHARED | {"sliding_window": 4}, "eager", AutoModelForCausalLM)
    options = GREEDY | {"max_new_tokens": 8, "cache_implementation": implementation}
    with attention.capture(model, layers=[0]) as taken:
        model.generate(SOURCE[:, :2], **options)
    model.config.sliding_window = None
    for call in taken:
        n = call.query_position + call.Q.shape[2]
        seen = first_token(taken, call, 0)
        # by hand: token 0 has left a window of 4 keys from the fifth token on
        assert (seen == 0) == (n <= 4 or implementation == "static" and call.key_position == 0)
    found = [head.measures["first"] for head in survey(taken).heads if head.call == 6]
    assert found == [None] * 4 if implementation == "dynamic" else set(found) <= {None, 0.0}


@torch.no_grad()
def test_on_the_first_of_a_padded_item_is_its_first_word():
    ids = torch.tensor([[3, 4, 5, 6, 3, 7], [0, 0, 3, 4, 5, 6]])
    model = made("llama", SHARED, "eager", AutoModelForCausalLM)
    options = GREEDY | {"max_new_tokens": 3, "attention_mask": (ids > 0).long()}
    with attention.capture(model, layers=[0]) as taken:
        model.generate(ids, **options)
    assert [first_token(taken, call, 1) for call in taken] == [2, 2, 2]
    assert [first_token(taken, call, 0) for call in taken] == [0, 0, 0]
    weights = taken.at(0, 1).trace(1, 3).weights
    found = {(h.item, h.head, h.call): h.measures["first"] for h in survey(taken).heads}
    assert found[1, 3, 1] == pytest.approx(weights[0, 2]) and weights[0, 0] == 0
    with attention.capture(model, layers=[0]) as taken:  # sdpa gives rows of padding nothing
        model.set_attn_implementation("sdpa")
        model(ids, attention_mask=(ids > 0).long())
    weights = taken[0].trace(1, 3).weights
    assert not weights[:2].any() and weights[2:].sum() == pytest.approx(4)
    found = {(h.item, h.head): h.measures["first"] for h in survey(taken).heads}
    assert found[1, 3] == pytest.approx(weights[2:, 2].mean())


class Twice(nn.Module):
    """Two softmaxes in one call, as DiffLlama has."""

    def forward(self, x):
        F = nn.functional
        return F.scaled_dot_product_attention(x, x, x) - F.scaled_dot_product_attention(x, x, 2 * x)


class Noise(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = Twice()

    def forward(self, x):
        return self.attn(x[:, None])[:, 0]


def test_calls_that_are_no_steps_have_other_names():
    x = torch.randn(1, 6, 16)
    with torch.no_grad(), attention.capture(model := Noise()) as taken:
        model(model(x))
    assert [each.when for each in taken] == ["", "use 1", "run 2", "use 3"]
    assert [each.run for each in taken] == [0, 0, 1, 1]
    albert = made("albert", SMALL | {"embedding_size": 16}, "sdpa")
    with torch.no_grad(), attention.capture(albert) as taken:
        albert(SOURCE)
    assert [each.when for each in taken] == ["", "use 1"]
    model = made("gpt2", GPT, "sdpa", AutoModelForCausalLM)
    model.gradient_checkpointing_enable()
    with attention.capture(model.train()) as taken:
        model(SOURCE, labels=SOURCE).loss.backward()
    assert [each.when for each in taken] == ["", "", "recompute 1", "recompute 1"]
    with torch.no_grad(), attention.capture(model.eval(), layers=[0]) as taken:
        model.generate(SOURCE, max_new_tokens=3, **GREEDY)
        model.generate(SOURCE, max_new_tokens=2, **GREEDY)
    assert [each.when for each in taken] == ["", "step 1", "step 2", "run 3", "step 4"]
    assert [each.run for each in taken] == [0, 0, 0, 1, 1]


class Folded(nn.Module):
    """Items and heads in one axis, as older code has them."""

    def __init__(self, heads=None):
        super().__init__()
        if heads:
            self.n_heads = heads

    def forward(self, x):
        return nn.functional.scaled_dot_product_attention(x, x, x)


@pytest.mark.parametrize(
    ("make", "shape", "wanted", "note"),
    [
        (
            lambda: Folded(4),
            (12, 6, 8),
            (3, 4),
            messages.READ_AS_ITEMS_AND_HEADS.format(size="12 × 6 × 8", items="3 items", heads=4),
        ),
        (
            lambda: Folded(4),
            (4, 6, 8),
            (1, 4),
            messages.READ_AS_ITEMS_AND_HEADS.format(size="4 × 6 × 8", items="1 item", heads=4),
        ),
        (
            Folded,
            (12, 6, 8),
            (12, 1),
            messages.READ_AS_ITEMS.format(size="12 × 6 × 8", items=12, why=messages.SAYS_NO_HEADS),
        ),
        (
            lambda: Folded(5),
            (12, 6, 8),
            (12, 1),
            messages.READ_AS_ITEMS.format(size="12 × 6 × 8", items=12, why="says 5"),
        ),
        (lambda: Folded(1), (12, 6, 8), (12, 1), ""),
        (lambda: Folded(3), (2, 5, 3, 6, 8), (10, 3), ""),
        (lambda: Folded(3), (2, 3, 5, 6, 8), (10, 3), ""),
        (
            lambda: Folded(3),
            (2, 3, 3, 6, 8),
            (18, 1),
            messages.AXES_JOINED.format(axes="2 × 3 × 3"),
        ),
        (Folded, (2, 3, 5, 6, 8), (30, 1), messages.AXES_JOINED.format(axes="2 × 3 × 5")),
    ],
)
@torch.no_grad()
def test_axes_are_read_as_items_and_heads_by_the_modules_number(make, shape, wanted, note):
    model, x = nn.Sequential(make()), torch.randn(shape)
    with attention.capture(model) as taken:
        answer = model(x)
    (call,) = taken
    assert call.Q.shape[:2] == wanted and attention.verify(taken).agrees
    assert any(note in said for said in call.notes) if note else call.notes == ()
    # each head's answer is that of the item and head it is said to be
    whole = answer.reshape(-1, *shape[-2:]).numpy()
    heads = call.output.reshape(-1, *shape[-2:])
    if shape == (2, 3, 5, 6, 8) and wanted[1] == 3:
        heads = call.output.reshape(2, 5, 3, 6, 8).swapaxes(1, 2).reshape(-1, 6, 8)
    np.testing.assert_array_equal(heads, whole)


@torch.no_grad()
def test_of_as_many_windows_as_heads_the_heads_are_those_next_to_their_columns():
    model, x = nn.Sequential(VisionWindows(2)), torch.randn(3, 8, 8)  # two windows of four places
    with attention.capture(model) as taken:
        model(x)
    assert taken[0].Q.shape == (6, 2, 4, 4) and taken[0].notes == ()
    Q = model[0].qkv(x).reshape(3, 4, 2, 3, 2, 4)[:, :, :, 0].numpy()
    for item, window, head in np.ndindex(3, 2, 2):
        right = Q[item, :, window, head]
        np.testing.assert_allclose(taken[0].Q[2 * item + window, head], right, rtol=0, atol=1e-6)


@torch.no_grad()
def test_where_memory_does_not_tell_windows_from_heads_a_note_says_so():
    model = nn.Sequential(Folded(3))
    x = torch.randn(2, 3, 3, 5, 8)
    model[0].forward = lambda x: nn.functional.scaled_dot_product_attention(
        x, x.mean(-2, keepdim=True), x.mean(-2, keepdim=True)
    )
    with attention.capture(model) as taken:
        model(x)
    assert taken[0].Q.shape[:2] == (18, 1)
    assert taken[0].notes == (messages.AXES_JOINED.format(axes="2 × 3 × 3"),)


@torch.no_grad()
def test_a_mask_of_windows_keeps_its_heads():
    torch.manual_seed(0)
    model = nn.Sequential(VisionWindows(2))
    original = nn.functional.scaled_dot_product_attention
    bias = torch.randn(2, 9, 4, 4)  # heads, windows, queries, keys

    def masked(Q, K, V):
        return original(Q, K, V, attn_mask=bias)

    model[0].forward = lambda x: masked(
        *model[0].qkv(x).reshape(3, 4, 9, 3, 2, 4).permute(3, 0, 4, 2, 1, 5)
    )
    with attention.capture(model, heads=[1]) as taken:
        model(torch.randn(3, 36, 8))
    assert taken[0].Q.shape[:2] == (27, 1) and attention.verify(taken).agrees
    np.testing.assert_array_equal(taken[0].bias[4, 0], bias[1, 4].numpy())


class Idle(nn.Module):
    """A model with an attention that it does not use."""

    def __init__(self):
        super().__init__()
        self.used, self.left = (nn.MultiheadAttention(8, 2, batch_first=True) for _ in range(2))

    def forward(self, x):
        return self.used(x, x, x)[0]


class MixHyperConnection(nn.Module):
    def forward(self, x):
        return x.softmax(-1)


@torch.no_grad()
def test_what_was_not_run_is_said_to_be_and_a_mixing_of_streams_is_no_attention():
    with attention.capture(model := Idle()) as taken:
        model(torch.randn(1, 3, 8))
    assert (taken.missed, taken.not_run) == ([], ["left"])
    assert repr(taken).endswith(messages.WAS_NOT_RUN.format(names="left"))
    streams = nn.Sequential(MixHyperConnection(), nn.Sequential(Folded()))
    with attention.capture(streams) as taken:
        streams(torch.randn(1, 3, 8))
    assert (taken.missed, taken.not_run) == ([], [])
    with pytest.raises(ValueError) as refused, attention.capture(Idle()):
        pass
    assert str(refused.value) == messages.NO_ATTENTION_RUN.format(names="used, left")


class Refusing(Folded):
    """Whatever it is asked it raises, and still it attends."""

    @property
    def num_heads(self):
        raise RuntimeError("no")

    config = embed_tokens = is_causal = num_heads


@torch.no_grad()
def test_a_module_that_refuses_to_say_anything_runs_as_ever():
    model, x = nn.Sequential(Refusing()), torch.randn(2, 1, 3, 4)
    with attention.capture(model) as taken:
        assert torch.equal(model(x), Refusing()(x))
    assert len(taken) == 1 and attention.verify(taken).agrees


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x):
        return x + self.attn(x, x, x)[0]


class Numbered(nn.Module):
    """Layers by names with a number, without a list."""

    def __init__(self):
        super().__init__()
        self.block1, self.block_2 = Block(), Block()

    def forward(self, x):
        return self.block_2(self.block1(x))


@torch.no_grad()
def test_layers_whose_names_end_in_a_number_work_on_one_sequence():
    with attention.capture(model := Numbered(), tokens=WORDS) as taken:
        model(torch.randn(1, 6, 16))
    assert [words_of(taken, call, 0)[0] for call in taken] == [tuple(WORDS)] * 2
    assert label_note(taken) == ""


@torch.no_grad()
def test_without_a_cache_generation_has_steps_and_the_words_of_the_whole_answer():
    model, answer = made("gpt2", GPT, "sdpa", AutoModelForCausalLM), [f"a{k}" for k in range(9)]
    for words in (answer[:6], answer[:8], answer):  # read again, read at last, made at last
        with attention.capture(model, layers=[0], tokens=words) as taken:
            model.generate(SOURCE, max_new_tokens=3, use_cache=False, **GREEDY)
        assert [call.when for call in taken] == ["", "step 1", "step 2"]
        more = [f"w{k}" for k in range(len(words) + 1, 9)]
        assert words_of(taken, taken.at(0, 2), 0)[1] == (*words[:8], *more)


@torch.no_grad()
def test_words_stand_in_the_run_and_at_the_item_that_read_them():
    model, other = made("gpt2", GPT, "sdpa"), (SOURCE + 1) % 11
    counted = tuple(f"w{k}" for k in range(1, 7))
    with attention.capture(model, tokens=WORDS) as taken:
        for ids in (SOURCE, other, SOURCE, SOURCE[:, :4]):
            model(ids)
    found = [words_of(taken, call, 0)[1] for call in taken if call.layer == 1]
    assert found == [tuple(WORDS), counted, tuple(WORDS), tuple(WORDS[:4])]
    with attention.capture(model, tokens=WORDS) as taken:
        model(torch.cat([SOURCE, other, SOURCE]))
    found = [words_of(taken, taken[1], item)[0] for item in range(3)]
    assert found == [tuple(WORDS), counted, tuple(WORDS)]
    taken.tokens = [WORDS, counted, WORDS]
    assert [words_of(taken, taken[1], item)[0] for item in range(3)] == found
    with attention.capture(model, tokens=WORDS) as taken:
        model(SOURCE)
        model(torch.cat([other, SOURCE]))
    found = [words_of(taken, taken.at(0, 1), item)[1] for item in range(2)]
    assert found == [counted, tuple(WORDS)]
    for layer in model.h:  # large biases of keys, as Qwen2 has, hide no other word
        layer.attn.c_attn.bias.data[16:32] += 100
    with attention.capture(model, tokens=WORDS) as taken:
        model(SOURCE)
        model(other)
    assert words_of(taken, taken.at(0, 1), 0)[1] == counted


@torch.no_grad()
def test_a_longer_or_padded_run_keeps_its_words_up_to_where_it_parts():
    longer = torch.cat([SOURCE, SOURCE[:, :2]], 1)
    other = longer.clone()
    other[0, 3] = 9
    padded = torch.cat([SOURCE, SOURCE[:, :2] * 0], 1)
    parted = (*WORDS[:3], "w4", "w5", "w6", "w7", "w8")
    whole = (*WORDS, "w7", "w8")
    for kind, sizes in (("bert", SMALL), ("gpt2", GPT), ("llama", SHARED)):
        model = made(kind, sizes, "sdpa")
        runs = [(SOURCE, tuple(WORDS)), (longer, whole), (other, parted), (padded, whole)]
        runs += [(SOURCE[:, :4], tuple(WORDS[:4]))]
        for order in (runs, runs[::-1]):  # the words are of the first run that they fit
            with attention.capture(model, layers=[0], tokens=WORDS) as taken:
                for ids, _ in order:
                    model(ids, attention_mask=(ids > 0).long())
            found = [words_of(taken, call, 0) for call in taken]
            assert found == [(right, right) for _, right in order], kind


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
@torch.no_grad()
def test_words_behind_padding_are_found_where_the_model_counts_from_there(kind):
    model = made(kind, {"gpt2": GPT, "llama": SHARED}[kind], "sdpa")
    padded = torch.cat([SOURCE[:, :2] * 0, SOURCE], 1)
    asked = {"input_ids": padded, "attention_mask": (padded > 0).long()}
    places = torch.tensor([[1, 1, *range(6)]])
    with attention.capture(model, tokens=WORDS) as taken:
        model(SOURCE)
        model(**asked, position_ids=places)
        model(**asked)  # which has other positions, so that its keys tell nothing
    counted = tuple(f"w{k}" for k in range(1, 9))
    for layer in range(2):
        found = [words_of(taken, taken.at(layer, call), 0)[1] for call in range(3)]
        assert found == [tuple(WORDS), ("w1", "w2", *WORDS), counted]


@torch.no_grad()
def test_another_run_of_two_stacks_keeps_the_words_of_both_up_to_where_they_part():
    model, longer = made("bart", BART, "sdpa"), torch.cat([SOURCE, SOURCE[:, :2]], 1)
    tokens = {"encoder": WORDS, "decoder": ["t1", "t2", "t3"]}
    with attention.capture(model, tokens=tokens) as taken:
        model(SOURCE, decoder_input_ids=SOURCE[:, :3])
        model(longer, decoder_input_ids=SOURCE[:, :5])
    queries, keys = ("t1", "t2", "t3", "w4", "w5"), (*WORDS, "w7", "w8")
    found = [words_of(taken, taken.at(layer, 1), 0) for layer in range(3)]
    assert found == [(keys, keys), (queries, queries), (queries, keys)]


@torch.no_grad()
def test_runs_are_told_apart_by_what_a_cache_holds():
    """A longer prompt is no step; nor is what goes on from a shared prefix, or has a cache too."""
    from transformers import DynamicCache

    model, answer = made("gpt2", GPT, "sdpa", AutoModelForCausalLM), [*WORDS, "x", "y"]
    longer = torch.cat([SOURCE, torch.tensor([[8]])], 1)
    with attention.capture(model, layers=[0]) as taken:
        for ids in (SOURCE, longer):
            model.generate(ids, max_new_tokens=1, **GREEDY)
    assert [call.when for call in taken] == ["", "run 1"]
    with attention.capture(model, layers=[0], tokens=answer) as taken:
        cache = DynamicCache()
        for ids in (SOURCE, SOURCE[:, :1] + 5, SOURCE[:, :1] + 6):
            model(ids, cache=cache)
        cache.crop(-4)
        for ids in (torch.tensor([[6, 1]]), torch.tensor([[2]])):
            model(ids, cache=cache)
    assert [(call.when, call.run) for call in taken][2:] == [
        ("step 2", 0),
        ("run 3", 1),
        ("step 4", 1),
    ]
    assert words_of(taken, taken.at(0, 2), 0)[1] == tuple(answer)
    assert words_of(taken, taken.at(0, 4), 0)[1] == (*WORDS[:4], "w5", "w6", "w7")
    assert not any(call.rejected for call in taken)
    fed = []
    model.transformer.wte.register_forward_pre_hook(lambda module, ids: fed.append(ids[0]))
    with attention.capture(model, layers=[0]) as taken:  # of which a half reads no prompt
        whole = model.generate(SOURCE, max_new_tokens=3, guidance_scale=1.5, **GREEDY)
    taken.tokens = [f"{k}:{id}" for k, id in enumerate(whole[0].tolist())]
    assert [call.run for call in taken] == [0, 1] * 3
    for call, ids in zip(taken, fed, strict=True):
        read = words_of(taken, call, 0)[0]
        if call.run == 0:
            assert [int(word.partition(":")[2]) for word in read] == ids[0].tolist()
        else:
            assert read == (f"w{call.call // 2 + 1}",)


LOOKUP = {"vocab_size": 41}  # so many that candidates are accepted and rejected
TWO_MODELS = [
    ("gpt2", GPT | LOOKUP, "prompt_lookup_num_tokens"),
    ("gpt2", GPT | LOOKUP, "assistant_model"),
    ("mistral", SHARED | LOOKUP | {"sliding_window": 6}, "assistant_model"),
    ("bart", BART | LOOKUP | {"decoder_start_token_id": 2}, "assistant_model"),
]


@pytest.mark.parametrize(("kind", "sizes", "way"), TWO_MODELS)
@torch.no_grad()
def test_rejected_tokens_are_candidates_and_accepted_ones_have_the_words(
    kind, sizes, way, tmp_path
):
    """Beside the ids that each call of the model was fed."""
    auto = AutoModelForSeq2SeqLM if kind == "bart" else AutoModelForCausalLM
    model, fed = made(kind, sizes, "sdpa", auto), []
    torch.manual_seed(1)
    draft = made(kind, sizes, "sdpa", auto)
    for own, near in zip(model.parameters(), draft.parameters(), strict=True):
        own.data = torch.randn_like(own) * 0.4
        near.data = own + torch.randn_like(own) * 0.12
    options = GREEDY | {"max_new_tokens": 12, way: 3 if "lookup" in way else draft}
    embed = model.model.decoder.embed_tokens if kind == "bart" else model.get_input_embeddings()
    embed.register_forward_pre_hook(lambda module, ids: fed.append(ids[0][0].tolist()))
    prompt, seen = torch.tensor([[5, 6, 7, 5, 6, 7, 5, 6]]), set()
    for calls in (None, [1, 3]):  # also of calls alone, without those behind them
        fed.clear()
        with attention.capture(model, calls=calls) as taken:
            answer = model.generate(prompt, **options)[0].tolist()
        words = [f"{k}:{id}" for k, id in enumerate(answer)]
        taken.tokens = {"decoder": words} if kind == "bart" else words
        taken.save(tmp_path / "run.safetensors")
        for call in attention.Taken.load(tmp_path / "run.safetensors"):
            if call.kind == "encoder":
                continue
            ids, first = fed[call.call], call.query_position
            read = [f"{k}:{id}" for k, id in enumerate(ids, first)]
            right = words[first : first + len(ids)]
            kept = sum(word in right for word in read)  # the position is part of each
            queries, keys = words_of(taken, call, 0)
            assert queries[:kept] == tuple(read[:kept]) == tuple(right[:kept])
            rest = len(ids) - kept
            names = ["candidate"] if rest == 1 else [f"candidate {k + 1}" for k in range(rest)]
            assert queries[kept:] == tuple(names)
            if call.kind == "decoder":
                before = words[call.key_position : first]
                assert keys == (*before, *queries)
            seen |= {kept < len(ids), kept > 1}
    assert seen == {True, False}


@torch.no_grad()
def test_answers_that_part_have_the_words_up_to_there():
    model = made("gpt2", GPT, "sdpa", AutoModelForCausalLM)
    options = {"do_sample": True, "num_return_sequences": 3, "max_new_tokens": 4}
    torch.manual_seed(0)
    answers = model.generate(SOURCE, **GREEDY | options)
    assert len(set(map(tuple, answers[:, :8].tolist()))) > 1
    words = [f"{k}:{id}" for k, id in enumerate(answers[0].tolist())]
    torch.manual_seed(0)
    with attention.capture(model, tokens=words) as taken:
        model.generate(SOURCE, **GREEDY | options)
    for item, ids in enumerate(answers.tolist()):
        read = words_of(taken, taken.at(1, 3), item)[1]
        same = next((k for k in range(9) if ids[k] != answers[0][k]), 9)
        assert read[:same] == tuple(words[:same])
        assert all(re.fullmatch(r"w\d+", word) for word in read[same:])


@torch.no_grad()
def test_beams_look_at_the_words_of_the_encoder():
    model, words = made("bart", BART, "sdpa", AutoModelForSeq2SeqLM), [f"s{k}" for k in range(6)]
    other = (SOURCE + 1) % 11
    lists = {"encoder": [words, words[::-1]]}
    for ids, tokens in ((SOURCE, {"encoder": words}), (torch.cat([SOURCE, other]), lists)):
        with attention.capture(model, layers=["encoder_attn"], tokens=tokens) as taken:
            model.generate(ids, num_beams=2, max_new_tokens=3, **GREEDY)
        for call, item in ((call, item) for call in taken for item in range(2 * len(ids))):
            right = words if item < 2 else words[::-1]
            assert words_of(taken, call, item)[1] == tuple(right)


@torch.no_grad()
def test_beams_have_the_words_of_the_prompt_alone():
    model, fed = made("gpt2", GPT, "sdpa", AutoModelForCausalLM), []
    model.transformer.wte.register_forward_pre_hook(lambda module, ids: fed.append(ids[0]))
    options = GREEDY | {"num_beams": 3, "max_new_tokens": 4}
    model.generate(SOURCE, **options)
    assert any(len(set(ids[:, -1].tolist())) > 1 for ids in fed[1:])  # they read other words
    answer = [*WORDS, *(f"a{k}" for k in range(4))]
    for tokens in (answer, [answer] * 3):
        with attention.capture(model, layers=[0], tokens=tokens) as taken:
            model.generate(SOURCE, **options)
        for call, item in ((call, item) for call in taken for item in range(3)):
            counted = [f"w{k}" for k in range(7, 7 + call.call)]
            assert words_of(taken, call, item)[1] == (*WORDS, *counted)
            assert call.notes == (messages.BEAMS_CHANGE,) * (call.call > 0)


@pytest.mark.parametrize("kind", ["prefix", "prompt"])
@torch.no_grad()
def test_virtual_tokens_stand_where_the_model_reads_them_in_generate_too(kind):
    """peft 0.21 generates without the prefix, and hands a soft prompt over at each step."""
    pytest.importorskip("peft", reason="peft is not installed here")
    from models.labelled import tuned

    model, fed = tuned(kind), []
    model.base_model.transformer.register_forward_pre_hook(
        lambda module, args, given: fed.append(given), with_kwargs=True
    )
    with attention.capture(model, layers=[0], tokens=WORDS) as taken:
        model.generate(input_ids=SOURCE, max_new_tokens=3, **GREEDY)
    first, last = taken.calls[0], taken.calls[-1]
    if kind == "prefix":
        assert first.K.shape[2] == 6  # the model has no key of a prefix
        assert words_of(taken, first, 0) == (tuple(WORDS),) * 2
        assert words_of(taken, last, 0) == (("w8",), (*WORDS, "w7", "w8"))
        assert positions_of(taken, last) == (7, 0) and first_token(taken, last, 0) == 0
        return
    assert [given["inputs_embeds"].shape[1] for given in fed] == [9, 4, 4]
    virtual = tuple(f"virtual {k}" for k in (1, 2, 3))
    assert words_of(taken, first, 0)[1] == (*virtual, *WORDS)
    assert words_of(taken, last, 0)[0] == ("q1", "q2", "q3", "q4")
    assert positions_of(taken, last) == (None, None) and first_token(taken, last, 0) is None
    assert last.notes == (messages.VIRTUAL_IN_BETWEEN,) and first.notes == ()


@torch.no_grad()
def test_a_soft_prompt_of_an_encoder_stands_at_the_keys_of_the_decoder_in_each_run():
    peft = pytest.importorskip("peft", reason="peft is not installed here")
    config = peft.PromptTuningConfig(task_type="SEQ_2_SEQ_LM", num_virtual_tokens=3)
    model = peft.get_peft_model(made("bart", BART, "sdpa", AutoModelForSeq2SeqLM), config).eval()
    with attention.capture(model, tokens={"encoder": WORDS}) as taken:
        for ids in (SOURCE, SOURCE, (SOURCE + 1) % 11):
            model(input_ids=ids, decoder_input_ids=SOURCE[:, :4])
    crossed = [call for call in taken if call.kind == "cross"]
    virtual = tuple(f"virtual {k}" for k in (1, 2, 3))
    found = [words_of(taken, call, 0)[1] for call in crossed]
    assert found[:2] == [(*virtual, *WORDS)] * 2 and not set(found[2]) & set(WORDS)
    assert [call.when for call in crossed] == ["", "run 1", "run 2"]


@pytest.mark.parametrize(
    ("name", "size", "labels"),
    [
        ("coatnet_nano_rw_224", 64, {("patch 0", "patch 1")}),
        ("crossvit_9_240", 240, {("[CLS]", "patch 0")}),
        ("cait_xxs24_224", 64, {("[CLS]",)}),
        ("maxvit_rmlp_pico_rw_256", 64, {("place 0", "place 1")}),
        ("mobilevit_xxs", 128, {("place 0", "place 1")}),
        ("tiny_vit_5m_224", 224, {("place 0", "place 1")}),
        ("hiera_tiny_224", 64, {("place 0", "place 1")}),
    ],
)
@torch.no_grad()
def test_towers_of_timm_take_no_list_and_count_patches_and_places_in_windows(name, size, labels):
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    sized = {"img_size": size} if name[0] in "ch" or name.startswith("max") else {}
    model = timm.create_model(name, **sized).eval()
    with attention.capture(model, tokens=["a", "b"]) as taken:
        model(torch.randn(1, 3, size, size))
    assert {call.kind for call in taken} <= {"vision", "cross"}
    assert {words_of(taken, call, 0)[0][:2] for call in taken} == labels
    assert label_note(taken) and attention.verify(taken).agrees


def segmenting(kind):
    """A small model of SAM's family for pictures of 4 × 4 patches of 16 × 16."""
    import transformers

    part = {name: getattr(transformers, f"{kind}{name}Config", None) for name in PARTS}
    picture = {"image_size": 64, "patch_size": 16}
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "mlp_dim": 8}
    decoder = sizes | {"iou_head_hidden_dim": 8}
    if kind == "SamHQ":
        decoder |= {"vit_dim": 16}
        tower = sizes | picture | {"output_channels": 16, "num_pos_feats": 8}
        vision = part["Vision"](**tower, global_attn_indexes=[0])
    elif kind == "Sam2":  # whose last layer has fewer queries than patches
        stages = {"blocks_per_stage": [1, 1, 2, 1], "embed_dim_per_stage": [8, 16, 32, 64]}
        stages |= {"num_attention_heads_per_stage": [1, 2, 4, 8], "global_attention_blocks": [3]}
        stages |= {"window_size_per_stage": [8, 4, 4, 4], "image_size": [64, 64]}
        stages |= {"window_positional_embedding_background_size": [4, 4], "hidden_size": 8}
        backbone = transformers.Sam2HieraDetConfig(**stages)
        maps = {"backbone_channel_list": [64, 32, 16, 8], "fpn_hidden_size": 16}
        maps |= {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]}
        vision = part["Vision"](backbone_config=backbone, **maps)
    else:
        maps = {"fpn_hidden_size": 16, "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]}
        tower = {name: size for name, size in sizes.items() if name != "mlp_dim"} | picture
        tower |= {"intermediate_size": 8, "pretrain_image_size": 32, "global_attn_indexes": [0]}
        vision = transformers.Sam3VisionConfig(
            backbone_config=transformers.Sam3ViTConfig(**tower), **maps
        )
    prompt = part["PromptEncoder"](hidden_size=16, mask_input_channels=4, **picture)
    parts = {"vision_config": vision, "prompt_encoder_config": prompt}
    parts |= {"mask_decoder_config": part["MaskDecoder"](**decoder)}
    torch.manual_seed(0)
    return getattr(transformers, f"{kind}Model")(part[""](**parts)).eval()


PARTS = ("", "Vision", "PromptEncoder", "MaskDecoder")


@pytest.mark.parametrize(
    ("kind", "tokens", "picture"),
    [
        ("SamHQ", 6, "patch"),  # one for the quality, four masks and the one of high quality
        ("Sam2", 6, "place"),  # whose pictures come from another layer than the last
        ("Sam3Tracker", 6, "patch"),
    ],
)
@torch.no_grad()
def test_in_sams_family_a_picture_that_looks_at_tokens_has_its_own_names(kind, tokens, picture):
    model, points = segmenting(kind), torch.tensor([[[[4.0, 5.0], [9.0, 7.0]]]])
    with attention.capture(model, layers=["mask_decoder."]) as taken:
        model(pixel_values=torch.randn(1, 3, 64, 64), input_points=points)
    queries = tuple(f"query {k}" for k in range(tokens + 3))  # two points, and one that is added
    places = tuple(f"{picture} {k}" for k in range(16))
    assert {call.module.rpartition(".")[2]: words_of(taken, call, 0) for call in taken} == {
        "self_attn": (queries, queries),
        "cross_attn_token_to_image": (queries, places),
        "cross_attn_image_to_token": (places, queries),
        "final_attn_token_to_image": (queries, places),
    }
    assert [call.kind for call in taken] == ["decoder", "cross", "cross", "cross"]
    names = [f"token {k}" for k in range(tokens + 3)]
    taken.tokens = {"mask_decoder": names}  # of the tokens, wherever they are
    words = {call.module.rpartition(".")[2]: words_of(taken, call, 0) for call in taken}
    assert words["cross_attn_image_to_token"] == (places, tuple(names))
    assert words["final_attn_token_to_image"] == (tuple(names), places)


@pytest.mark.parametrize(
    ("name", "size", "queries", "keys"),
    [
        ("pvt_v2_b0", 64, 256, 4),  # 16 × 16 patches, and 2 × 2 keys of 8 × 8 patches each
        ("twins_pcpvt_small", 224, 3136, 49),
        ("nextvit_small", 128, 256, 16),
    ],
)
@torch.no_grad()
def test_keys_that_are_several_patches_together_are_regions(name, size, queries, keys):
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    model = timm.create_model(name).eval()
    with attention.capture(model, heads=[0], calls=[0]) as taken:
        model(torch.randn(1, 3, size, size))
    rows, columns = words_of(taken, taken[0], 0)
    assert rows == tuple(f"patch {k}" for k in range(queries))
    assert columns == tuple(f"region {k}" for k in range(keys))
    for call in taken:  # also in stages that have no fewer keys
        rows, columns = words_of(taken, call, 0)
        noun = "region" if len(columns) < len(rows) else "patch"
        assert {word.split()[0] for word in columns} == {noun}


@pytest.mark.parametrize(
    ("name", "size", "windows"),
    [
        ("twins_svt_small", 224, {"blocks.0.0.attn": 64, "blocks.0.1.attn": 0}),
        ("davit_tiny", 64, {"stages.0.blocks.0.0.attn": 9, "stages.2.blocks.0.0.attn": 0}),
        ("hiera_tiny_224", 64, {"blocks.0.attn": 4, "blocks.4.attn": 0}),
        ("tiny_vit_5m_224", 224, {"stages.1.blocks.0.attn": 16, "stages.2.blocks.0.attn": 0}),
        ("maxvit_rmlp_pico_rw_256", 64, {"stages.0.blocks.0.attn_block.attn": 64}),
        ("vit_tiny_patch16_224", 224, {"blocks.0.attn": 0}),
    ],
)
@torch.no_grad()
def test_a_note_says_of_which_picture_a_window_is(name, size, windows):
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    sized = {"img_size": size} if name[0] in "hm" else {}
    model = timm.create_model(name, **sized).eval()
    for pictures in (1, 2):
        with attention.capture(model, heads=[0], layers=list(windows)) as taken:
            model(torch.randn(pictures, 3, size, size))
        for call in taken:
            count = windows[call.module]
            items = pictures * (count or 1)
            said = messages.WINDOWS.format(
                part="window", each=count, item=items - 1, last=count - 1, picture=pictures - 1
            )
            assert len(call.Q) == items
            assert call.notes == ((said,) if count else ())


@torch.no_grad()
def test_the_items_of_a_window_note_are_the_windows_it_names():
    """Beside Twins' own windows of its first layer's input."""
    timm = pytest.importorskip("timm", reason="timm is not installed here")
    model, given = timm.create_model("twins_svt_small").eval(), []
    attn = model.blocks[0][0].attn
    attn.register_forward_pre_hook(lambda module, args: given.append(args[0]))
    with attention.capture(model, layers=["blocks.0.0."]) as taken:
        model(torch.randn(2, 3, 224, 224))
    (call,), x = taken, given[0].reshape(2, 56, 56, -1)
    for picture, row, column in ((0, 0, 0), (0, 7, 7), (1, 0, 1), (1, 3, 5)):
        window = x[picture, 7 * row : 7 * row + 7, 7 * column : 7 * column + 7].reshape(49, -1)
        Q = attn.qkv(window)[:, :32].numpy()
        item = 64 * picture + 8 * row + column
        np.testing.assert_allclose(call.Q[item, 0], Q, rtol=0, atol=1e-5)


def joint(kind):
    """A small transformer of diffusers for 16 places and a prompt of 5, and what it is given."""
    diffusers = pytest.importorskip("diffusers", reason="diffusers is not installed here")
    torch.manual_seed(0)
    sizes = {"num_layers": 1, "num_attention_heads": 2, "in_channels": 4}
    sizes |= {"joint_attention_dim": 12, "pooled_projection_dim": 8}
    given = {"encoder_hidden_states": torch.randn(2, 5, 12), "timestep": torch.ones(2)}
    given |= {"pooled_projections": torch.randn(2, 8)}
    if kind == "SD3":
        sizes |= {"sample_size": 8, "patch_size": 2, "attention_head_dim": 8, "out_channels": 4}
        sizes |= {"caption_projection_dim": 16, "pos_embed_max_size": 8, "num_layers": 2}
        model = diffusers.SD3Transformer2DModel(**sizes, dual_attention_layers=(1,))
        return model.eval(), {"hidden_states": torch.randn(2, 4, 8, 8)} | given
    sizes |= {"attention_head_dim": 16, "num_single_layers": 1, "axes_dims_rope": (4, 6, 6)}
    model = diffusers.FluxTransformer2DModel(patch_size=1, **sizes)
    ids = {"img_ids": torch.zeros(16, 3), "txt_ids": torch.zeros(5, 3)}
    return model.eval(), {"hidden_states": torch.randn(2, 16, 4)} | given | ids


PLACES, PROMPT = (
    tuple(f"{noun} {k}" for k in range(n)) for noun, n in (("place", 16), ("text", 5))
)


@pytest.mark.parametrize(
    ("kind", "right"),
    [
        (
            "SD3",  # the latter has a second attention, of the picture alone
            {
                "transformer_blocks.0.attn": PLACES + PROMPT,
                "transformer_blocks.1.attn": PLACES + PROMPT,
                "transformer_blocks.1.attn2": PLACES,
            },
        ),
        (
            "Flux",
            {
                "transformer_blocks.0.attn": PROMPT + PLACES,
                "single_transformer_blocks.0.attn": PROMPT + PLACES,
            },
        ),
    ],
)
@torch.no_grad()
def test_joint_attention_tells_the_prompt_from_the_picture(kind, right, tmp_path):
    model, given = joint(kind)
    with attention.capture(model) as taken:
        model(**given)
    taken.save(tmp_path / "run.safetensors")
    for each in (taken, attention.Taken.load(tmp_path / "run.safetensors")):
        assert {call.module: words_of(each, call, 1) for call in each} == {
            module: (labels, labels) for module, labels in right.items()
        }


@pytest.mark.parametrize("kind", ["Decoder", "Encoder"])
@torch.no_grad()
def test_memory_keys_are_no_words(kind, tmp_path):
    x_transformers = pytest.importorskip("x_transformers", reason="x-transformers is not here")
    layers = getattr(x_transformers, kind)(
        dim=16, depth=1, heads=2, attn_dim_head=8, attn_num_mem_kv=2, attn_flash=True
    )
    model = x_transformers.TransformerWrapper(num_tokens=11, max_seq_len=16, attn_layers=layers)
    answer = [*WORDS, "new", "er"]
    with attention.capture(model.eval(), tokens=answer if kind == "Decoder" else WORDS) as taken:
        if kind == "Encoder":
            model(SOURCE)
        else:
            x_transformers.AutoregressiveWrapper(model).generate(SOURCE, 2)
    taken.save(tmp_path / "run.safetensors")
    for each in (taken, attention.Taken.load(tmp_path / "run.safetensors")):
        for call in each:
            read = answer[: 6 + call.call]
            queries, keys = words_of(each, call, 0)
            assert keys == ("memory 0", "memory 1", *read)
            assert queries == tuple(read if call.call == 0 else read[-1:])
            assert first_token(each, call, 0) == 2
    assert attention.verify(taken).agrees


class Remembers(nn.Module):
    """Keeps what it has read, in a cache of its own."""

    def __init__(self):
        super().__init__()
        self.read = torch.zeros(1, 1, 0, 4)

    def forward(self, x):
        self.read = torch.cat([self.read, x], 2)
        is_causal = x.shape[2] == self.read.shape[2]
        return nn.functional.scaled_dot_product_attention(
            x, self.read, self.read, is_causal=is_causal
        )


@pytest.mark.parametrize(
    ("name", "noun", "first", "kind"),
    [("audio_tower", "frame ", 0, "audio"), ("blocks", "w", 1, "decoder")],
)
@torch.no_grad()
def test_what_is_read_in_parts_is_counted_from_the_first(name, noun, first, kind, tmp_path):
    model = nn.ModuleDict({name: nn.Sequential(Remembers())})
    with attention.capture(model) as taken:
        for count in (3, 2, 1):
            model[name](torch.randn(1, 1, count, 4))
    taken.save(tmp_path / "run.safetensors")
    names = tuple(f"{noun}{k}" for k in range(first, first + 6))
    for each in (taken, attention.Taken.load(tmp_path / "run.safetensors")):
        assert [positions_of(each, call) for call in each] == [(0, 0), (3, 0), (5, 0)]
        assert [(call.when, call.kind) for call in each] == [
            (when, kind) for when in ("", "step 1", "step 2")
        ]
        for call, end, count in zip(each, (3, 5, 6), (3, 2, 1), strict=True):
            assert words_of(each, call, 0) == (names[end - count : end], names[:end])


@pytest.mark.parametrize(("number", "is_cross"), [(0, False), (1, True), (2, False)])
def test_a_list_of_layer_types_says_which_look_at_another_sequence(number, is_cross):
    listed = {"decoder": SimpleNamespace(layer_types=("a", "c"))}  # as x-transformers has it
    for name in (f"decoder.layers.{number}.1.attend", f"decoder.layers.{number}"):
        assert Module(name, listed).is_cross is is_cross
    assert not Module(f"decoder.other.{number}", listed).is_cross


@pytest.mark.parametrize("every", [None, 3])
@torch.no_grad()
def test_learned_tokens_before_a_sequence_are_no_words(every):
    x_transformers = pytest.importorskip("x_transformers", reason="x-transformers is not here")
    layers = x_transformers.Decoder(dim=16, depth=1, heads=2, attn_dim_head=8, attn_flash=True)
    model = x_transformers.TransformerWrapper(
        num_tokens=11,
        max_seq_len=16,
        attn_layers=layers,
        num_memory_tokens=2,
        memory_tokens_interspersed_every=every,
    )
    with attention.capture(model.eval(), tokens=None if every else WORDS) as taken:
        model(SOURCE)
        x_transformers.AutoregressiveWrapper(model).generate(SOURCE[:, :4], 3)  # reads all anew
    later = "run" if every else "step"  # with more than one token more
    assert [call.when for call in taken] == ["", "run 1", f"{later} 2", f"{later} 3"]
    words = ("virtual 1", "virtual 2", *WORDS)
    if every:  # two more after three words, so that no place is a word's by its number
        words = tuple(f"q{k}" for k in range(1, 11))
    assert words_of(taken, taken.at(0), 0)[0] == words


@torch.no_grad()
def test_a_unet_has_the_words_of_the_prompt_at_each_of_its_keys():
    diffusers = pytest.importorskip("diffusers", reason="diffusers is not installed here")
    model = diffusers.UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        norm_num_groups=4,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=8,
        attention_head_dim=2,
    ).eval()
    for count in (5, 16, 64):  # 16 and 64 are also numbers of places in its pictures
        prompt, read = tuple(f"p{k}" for k in range(count)), torch.randn(2, count, 8)
        for tokens in ({"attn2": prompt}, prompt):
            with attention.capture(model, tokens=tokens) as taken:
                for step in (2, 1):
                    model(torch.randn(2, 4, 8, 8), step, read)
            crossed = [call for call in taken if call.kind == "cross"]
            assert {words_of(taken, call, 0)[1] for call in crossed} == {prompt}
            assert len(crossed) == 8 and crossed[-1].when == "run 1"
            named = {words_of(taken, call, 0)[0][0] for call in taken}
            assert named == {"place 0"}


@torch.no_grad()
def test_keras_layers_have_their_names(monkeypatch):
    monkeypatch.setenv("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras", reason="keras is not installed here")
    x = keras.Input((6, 8))
    y = keras.layers.MultiHeadAttention(2, 4, name="one", flash_attention=None)(x, x)
    model = keras.Model(x, keras.layers.MultiHeadAttention(2, 4, name="two")(y, y))
    with attention.capture(model, tokens=WORDS) as taken:
        model(torch.randn(1, 6, 8))
    assert [each.module for each in taken] == ["one", "two"] and not any(c.when for c in taken)


@torch.no_grad()
def test_chosen_heads_of_a_tower_keep_their_numbers_and_its_name():
    pytest.importorskip("matplotlib")
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaModel

    tower = {"hidden_size": 24, "num_attention_heads": 12, "num_hidden_layers": 5}
    tower |= {"intermediate_size": 8, "image_size": 8, "patch_size": 4}
    config = LlavaConfig(
        vision_config=CLIPVisionConfig(**tower),
        text_config=LlamaConfig(**SHARED),
        image_token_index=9,
        vision_feature_layer=-1,
    )
    model = LlavaModel(config).eval()
    with attention.capture(model, layers=[3], heads=[1, 2, 5, 8, 11]) as taken:
        model(torch.tensor([[1, 9, 9, 9, 9, 3]]), pixel_values=torch.randn(1, 3, 8, 8))
    (call,) = taken
    assert (call.module, call.kind) == ("vision_tower.encoder.layers.3.self_attn", "vision")
    paper = attention.Paper("text", numbers=False)
    figure = attention.paper_figure(call.trace(), heads=None, paper=paper)
    titles = [each.get_title("left") for each in figure.axes]
    titles = [title.split(" ", 1)[1] for title in titles if title]
    assert titles == [f"head {head}" for head in (1, 2, 5, 8, 11)]
    module = "vision_tower.encoder.layers.3.self_attn"
    assert figure.title == f"layer 3 (vision, {module}), heads 1, 2, 5, 8, 11"
    figure = attention.across_layers(taken, head=8, paper=paper)
    assert "head 8" in figure.axes[0].get_title("left")
    assert "vision_tower.encoder.layers.3.self_attn" in repr(call.trace(0, 3))


def test_the_command_prints_a_table_of_right_answers():
    from models.labelled import table

    pytest.importorskip("peft", reason="peft is not installed here")
    lines = table().splitlines()
    assert len(lines) == len(CASES) + 2
    assert all(line.split("|")[2:4] == [" right ", " right "] for line in lines[2:])
    assert sum("as its own" in line for line in lines) == sum(bool(case.own) for case in CASES)
