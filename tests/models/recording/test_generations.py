"""Generations of tiny models joined to one call, beside one run of the model over the answer."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the models are torch's, which is not installed here")
transformers = pytest.importorskip("transformers", reason="it is not installed here")

from models.families import BART, GPT, SHARED, made  # noqa: E402
from torch import nn  # noqa: E402

import attention  # noqa: E402
from attention.limits import BadInput  # noqa: E402
from attention.models.labels import words_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
PROMPT = torch.tensor([[5, 6, 7, 5, 6, 7, 5, 6]])
MORE = {"max_new_tokens": 5, "min_new_tokens": 5, "do_sample": False, "pad_token_id": 0}
MODELS = {
    "GPT-2": ("gpt2", GPT, "sdpa", {}),
    "GPT-2, eager": ("gpt2", GPT, "eager", {}),
    "LLaMA, shared keys": ("llama", SHARED, "sdpa", {}),
    "Mistral, a window of three": ("mistral", SHARED | {"sliding_window": 3}, "sdpa", {}),
    "LLaMA, a static cache": ("llama", SHARED, "sdpa", {"cache_implementation": "static"}),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_generation_is_one_run_over_the_answer(name):
    kind, config, implementation, more = MODELS[name]
    model = made(kind, config, implementation, transformers.AutoModelForCausalLM)
    with torch.no_grad(), attention.capture(model) as taken:
        answer = model.generate(PROMPT, **MORE, **more)
    with torch.no_grad(), attention.capture(model) as plain:
        model(answer[:, :-1])  # the last word was never fed
    assert len(taken) > len(plain)
    for call in plain:
        whole = taken.joined(layer=call.layer)
        assert whole.Q.shape[2] == whole.K.shape[2] == answer.shape[1] - 1
        one, other = whole.trace(), call.trace()
        np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=2e-6)
        np.testing.assert_array_equal(one.allowed, other.allowed)
        np.testing.assert_allclose(whole.output, call.output, rtol=0, atol=2e-5)


POOLED = {"vocab_size": 11, "hidden_size": 16, "num_attention_heads": 4, "head_dim": 8}
POOLED |= {"num_hidden_layers": 2, "moe_intermediate_size": 8, "n_routed_experts": 2}
POOLED |= {"num_key_value_heads": 1, "q_lora_rank": 8, "qk_rope_head_dim": 8, "index_topk": 4}
POOLED |= {"index_n_heads": 2, "index_head_dim": 8, "num_experts_per_tok": 1}
POOLED |= {"layer_types": ["heavily_compressed_attention", "compressed_sparse_attention"]}


def test_keys_pooled_of_several_tokens_never_have_words_by_their_number():
    model = made("deepseek_v4", POOLED, "eager", transformers.AutoModelForCausalLM)
    with torch.no_grad(), attention.capture(model) as taken:
        answer = model.generate(PROMPT, **MORE)
    taken.tokens = [f"t{place}" for place in range(answer.shape[1])]
    widths = []
    for call in taken:
        n, keys = call.K.shape[2], words_of(taken, call, 0)[1]
        if call.layer == 0:
            assert keys == tuple(taken.tokens[:n])
        else:  # a key for each token and, behind them, one for each whole block of 4
            assert keys == tuple(f"k{place + 1}" for place in range(n))
            widths.append(n)
    assert len(taken.tokens) in widths


def test_cross_attention_of_a_generation_is_joined():
    model = made("bart", BART, "eager", transformers.AutoModelForSeq2SeqLM)
    with torch.no_grad(), attention.capture(model) as taken:
        answer = model.generate(PROMPT, num_beams=1, **MORE)
    with torch.no_grad(), attention.capture(model) as plain:
        model(input_ids=PROMPT, decoder_input_ids=answer[:, :-1])
    kinds = set()
    for call in plain:
        whole = taken.joined(layer=call.layer)
        np.testing.assert_allclose(whole.trace().weights, call.trace().weights, rtol=0, atol=2e-6)
        kinds.add(whole.kind)
    assert kinds == {"encoder", "decoder", "cross"}


def test_candidates_at_the_end_of_a_joined_generation_are_no_words():
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    sizes |= {"num_key_value_heads": 2, "intermediate_size": 16, "vocab_size": 5}
    ids = {"bos_token_id": None, "eos_token_id": None, "pad_token_id": 0}
    config = transformers.LlamaConfig(**sizes, **ids)
    torch.manual_seed(39)
    model = transformers.LlamaForCausalLM(config).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, 0, 0.6)
    options = {"max_new_tokens": 3, "do_sample": False, "prompt_lookup_num_tokens": 3}
    with attention.capture(model) as taken:
        answer = model.generate(torch.tensor([[1, 2, 3, 4, 0]]), **options)
    read = [(call.query_position, call.Q.shape[2], call.rejected) for call in taken]
    assert read == [(0, 5, 0), (5, 4, 2)]
    taken.tokens = [f"t{k}" for k in answer[0].tolist()]
    words = words_of(taken, taken.joined(), 0)
    assert words == ((*taken.tokens[:7], "candidate 1", "candidate 2"),) * 2


def test_candidates_and_texts_read_again_are_refused():
    model = made("gpt2", GPT, "sdpa", transformers.AutoModelForCausalLM)
    with torch.no_grad(), attention.capture(model) as taken:
        model.generate(PROMPT, prompt_lookup_num_tokens=3, **MORE)
    with pytest.raises(BadInput, match="speculative decoding"):
        taken.joined()
    with torch.no_grad(), attention.capture(model) as taken:
        model.generate(PROMPT, use_cache=False, **MORE)
    with pytest.raises(BadInput, match="without a cache each step reads all"):
        taken.joined()
