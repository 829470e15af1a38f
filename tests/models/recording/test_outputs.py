"""What transformers returns itself, beside what was captured of the same run."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the models are torch's, which is not installed here")
transformers = pytest.importorskip("transformers", reason="it is not installed here")

from models.families import BART, GPT, inputs, made  # noqa: E402

import attention  # noqa: E402
from attention.limits import BadInput  # noqa: E402
from attention.models.labels import positions_of, words_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


def causal_model(auto=transformers.AutoModel):
    return made("gpt2", GPT, "eager", auto)


def test_own_attentions_are_those_of_the_capture():
    model = causal_model()
    with torch.no_grad(), attention.capture(model) as taken:
        outputs = model(**inputs("gpt2"), output_attentions=True)
    for given in (outputs, outputs.attentions, torch.stack(outputs.attentions)):
        finished = attention.Taken.of_weights(given)
        assert [call.kind for call in finished] == [call.kind for call in taken]
        for call, own in zip(taken, finished, strict=True):
            np.testing.assert_allclose(own.trace().weights, call.trace().weights, atol=1e-6)
            np.testing.assert_array_equal(own.trace().allowed, call.trace().allowed)


def test_the_steps_of_generate_are_those_of_the_capture():
    model = causal_model(transformers.AutoModelForCausalLM)
    ids = torch.tensor([[3, 4, 5, 6]])
    words = list("abcdefgh")
    more = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "use_cache": True}
    with torch.no_grad(), attention.capture(model) as taken:
        outputs = model.generate(
            ids, output_attentions=True, return_dict_in_generate=True, pad_token_id=0, **more
        )
    taken.tokens = words
    finished = attention.Taken.of_weights(outputs, tokens=words)
    assert len(finished) == len(taken)
    for call in taken:
        own = finished.at(call.layer, call.call)
        assert own.when == call.when
        np.testing.assert_allclose(own.trace().weights, call.trace().weights, atol=1e-6)
        assert words_of(finished, own, 0) == words_of(taken, call, 0)


ANSWERS = {
    "no cache": {"use_cache": False},
    "static": {"cache_implementation": "static"},
    "beams": {"num_beams": 3},
    "samples": {"num_return_sequences": 2, "do_sample": True},
    "one word": {"cache_implementation": "static", "max_new_tokens": 1, "min_new_tokens": 1},
}


@pytest.mark.parametrize("way", ANSWERS)
def test_each_way_to_generate_has_the_labels_of_the_capture(way):
    model = causal_model(transformers.AutoModelForCausalLM)
    torch.manual_seed(0)
    with torch.no_grad():
        for weights in model.parameters():  # weights that differ from text to text
            torch.nn.init.normal_(weights, 0, 0.4)
    ids = torch.tensor([[3, 4, 5, 6]])
    more = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False} | ANSWERS[way]
    with torch.no_grad(), attention.capture(model) as taken:
        outputs = model.generate(
            ids, output_attentions=True, return_dict_in_generate=True, pad_token_id=0, **more
        )
    words = [f"t{k}" for k in range(outputs.sequences.shape[1] - (way == "one word"))]
    taken.tokens = words
    # of samples the weights alone do not tell that they are no beams
    for given in [outputs, outputs.attentions][: 1 if way == "samples" else 2]:
        finished = attention.Taken.of_weights(given, tokens=words)
        assert len(finished) == len(taken)
        for call in taken:
            own = finished.at(call.layer, call.call)
            assert own.when == call.when
            assert positions_of(finished, own) == positions_of(taken, call)
            np.testing.assert_allclose(own.trace().weights, call.trace().weights, atol=1e-6)
            for item in range(len(call.Q) if way != "samples" else 1):
                assert words_of(finished, own, item) == words_of(taken, call, item)
        for layer in (0, 1):
            if way in ("no cache", "beams"):
                with pytest.raises(BadInput):
                    finished.joined(layer)
            else:
                joined = finished.joined(layer).trace().weights
                np.testing.assert_allclose(joined, taken.joined(layer).trace().weights, atol=1e-6)


def test_a_decoder_with_cross_attention_has_the_labels_of_the_capture():
    config = transformers.GPT2Config(
        n_embd=16, n_layer=2, n_head=2, vocab_size=60, add_cross_attention=True
    )
    model = transformers.GPT2Model._from_config(config, attn_implementation="eager").eval()
    words = {"encoder": list("wxyz"), "decoder": list("abc")}
    with torch.no_grad(), attention.capture(model) as taken:
        outputs = model(
            torch.tensor([[5, 6, 7]]),
            encoder_hidden_states=torch.randn(1, 4, 16),
            output_attentions=True,
        )
    finished = attention.Taken.of_weights(outputs, tokens=words)
    for kind in ("decoder", "cross"):
        of_kind = [[call for call in each if call.kind == kind] for each in (finished, taken)]
        for own, call in zip(*of_kind, strict=True):
            np.testing.assert_allclose(own.trace().weights, call.trace().weights, atol=1e-6)
            expected = words["encoder" if kind == "cross" else "decoder"]
            assert words_of(finished, own, 0) == (tuple("abc"), tuple(expected))


def test_encoder_decoder_and_cross_attention_come_out_of_one_output():
    model = made("bart", BART, "eager")
    with torch.no_grad(), attention.capture(model) as taken:
        outputs = model(**inputs("t5"), output_attentions=True)
    finished = attention.Taken.of_weights(outputs)
    for kind in ("encoder", "decoder", "cross"):
        of_kind = [[call for call in each if call.kind == kind] for each in (finished, taken)]
        assert len(of_kind[0]) == len(of_kind[1]) > 0
        for own, call in zip(*of_kind, strict=True):
            np.testing.assert_allclose(own.trace().weights, call.trace().weights, atol=1e-6)


def test_sdpa_has_no_attentions_to_give_and_says_what_to_do():
    model = made("gpt2", GPT, "sdpa")
    with torch.no_grad():
        outputs = model(**inputs("gpt2"), output_attentions=True)
    if not outputs.attentions or outputs.attentions[0] is None:
        with pytest.raises(ValueError, match="attn_implementation='eager'"):
            attention.Taken.of_weights(outputs)


def test_half_precision_is_widened():
    given = torch.full((1, 1, 2, 4, 4), 0.25, dtype=torch.bfloat16)
    call = attention.Taken.of_weights(given)[0]
    assert call.weights.dtype == np.float32 and (call.weights == 0.25).all()
