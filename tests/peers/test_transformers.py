"""What Hugging Face's models say of their weights, where transformers can be imported."""

import importlib
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from attention import causal, scaled_dot_product_attention

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the libraries' own
    torch = pytest.importorskip("torch", reason="the package torch is not installed")
    transformers = pytest.importorskip(
        "transformers", reason="the package transformers is not installed"
    )

COUNTED = (  # the sink is one more score in each row, of which no weight is returned
    "deepseek_v4",
    "flint",
    "gpt_oss",
    "hy_v4",
    "hy_v4_vl",
    "inkling2",
    "inkling2_loop",
    "mimo_v2_flash",
    "openai_privacy_filter",
)
SCALED = ("granite_swa", "granitemoe_swa")  # the output is multiplied by the share of the keys
SMALL = {
    "vocab_size": 16,
    "hidden_size": 16,
    "intermediate_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 4,
    "bos_token_id": 0,
    "eos_token_id": 0,
}
TOKENS = torch.tensor([[1, 2, 3, 4, 5]])


def family(name):
    """The module of a family's models; one that this version does not have is skipped."""
    return pytest.importorskip(
        f"transformers.models.{name}.modeling_{name}",
        reason=f"this version of transformers has no {name}",
    )


@pytest.mark.skipif(not transformers.__version__.startswith("5.24."), reason="read of 5.24")
def test_the_families_with_sinks_are_those_tested_here():
    models = Path(transformers.__file__).with_name("models").glob("*/modeling_*.py")
    found = {
        path.parent.name
        for path in models
        if re.search(r"\bsinks\b", path.read_text(encoding="utf-8"))
    }
    assert found == {*COUNTED, *SCALED}


@pytest.mark.parametrize("name", (*COUNTED, *SCALED))
def test_sinks_change_the_output_as_ours_do_and_the_weights_in_one_kind(name):
    rng = np.random.default_rng(0)
    Q, K, V = rng.standard_normal((3, 1, 2, 4, 4)).astype("float32")
    sinks, seen = np.array([-0.5, 3.0], "float32"), causal(4, 4)
    ours = scaled_dot_product_attention(Q, K, V, allowed=seen, sinks=sinks)
    plain = scaled_dot_product_attention(Q, K, V, allowed=seen)
    mask = torch.where(torch.tensor(seen), 0.0, torch.finfo(torch.float32).min)[None, None]
    module = torch.nn.Module().eval()
    module.num_key_value_groups, module.sinks = 1, torch.tensor(sinks)
    given = {"scaling": 0.5}
    if name.startswith("inkling2"):  # made of each token, and handed over as they are
        given["sinks"] = module.sinks[None, :, None, None].expand(1, 2, 4, 1)
    attend = family(name).eager_attention_forward
    output, weights = attend(module, *map(torch.tensor, (Q, K, V)), mask, **given)
    np.testing.assert_allclose(output.transpose(1, 2), ours.output, rtol=0, atol=1e-6)
    expected = plain.weights if name in SCALED else ours.weights
    np.testing.assert_allclose(weights, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "classes", "options", "total"),
    [
        ("gpt_oss", "GptOss", {"num_local_experts": 2, "num_experts_per_tok": 1}, 0),
        ("flint", "Flint", {}, 0),
        ("granite_swa", "GraniteSWA", {}, 1),
    ],
)
def test_the_attentions_of_heads_that_a_sink_switches_off(name, classes, options, total):
    """Rows of gpt-oss are 0; those of Granite add up to 1, as if there were no sink."""
    modeling = family(name)
    configuration = importlib.import_module(f"transformers.models.{name}.configuration_{name}")
    config = getattr(configuration, f"{classes}Config")(**SMALL, **options)
    model = getattr(modeling, f"{classes}ForCausalLM")(config).eval()
    outputs = []
    for layer in model.model.layers:
        layer.self_attn.sinks.data.fill_(1e4)
        layer.self_attn.o_proj.register_forward_pre_hook(lambda _, given: outputs.append(given[0]))
    with torch.no_grad():
        attentions = model(TOKENS, output_attentions=True).attentions
    assert len(attentions) == len(outputs) == 2
    assert not any(output.any() for output in outputs)
    for weights in attentions:
        np.testing.assert_allclose(weights.sum(-1), total, rtol=0, atol=1e-6)


def test_a_family_with_sinks_runs_eager_by_default():
    config = transformers.GptOssConfig(**SMALL, num_local_experts=2, num_experts_per_tok=1)
    assert family("gpt_oss").GptOssForCausalLM(config).config._attn_implementation == "eager"


LAYERS = {"vocab_size": 16, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2}
MODELS = {  # that run sdpa by default
    "LlamaForCausalLM": ("LlamaConfig", SMALL),
    "BertModel": ("BertConfig", {**LAYERS, "num_attention_heads": 2}),
    "GPT2Model": ("GPT2Config", SMALL),
}


def small(name, **more):
    configuration, sizes = MODELS[name]
    return getattr(transformers, name)(getattr(transformers, configuration)(**sizes, **more)).eval()


@pytest.mark.parametrize("name", MODELS)
def test_under_sdpa_attentions_is_an_empty_tuple_and_eager_fills_it(name):
    model = small(name)
    assert model.config._attn_implementation == "sdpa"
    with torch.no_grad():
        assert model(TOKENS).attentions is None
        assert model(TOKENS, output_attentions=True).attentions == ()
        model.set_attn_implementation("eager")
        attentions = model(TOKENS, output_attentions=True).attentions
    assert len(attentions) == 2
    for weights in attentions:
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=0, atol=1e-6)


def test_under_sdpa_attentions_asked_for_in_the_config_are_an_empty_tuple_too():
    model = small("LlamaForCausalLM", output_attentions=True)
    with torch.no_grad():
        assert model(TOKENS).attentions == ()
