"""The examples of docs/real-models.md, with tiny models of the same kinds, where torch is."""

import re
import warnings

import pytest
from readme import examples

import attention
from attention.models.labels import words_of

pytest.importorskip("plotly", reason="the extra [app] is not installed")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what torch says while it is imported
    torch = pytest.importorskip("torch", reason="the package torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
EXAMPLES = list(examples("docs/real-models.md").values())
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "animal", "was", "tired", "it"]
SIZES = {"vocab_size": len(WORDS), "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}
MODELS = {  # as many layers and heads as what the page names, but narrow
    "sentence-transformers/all-MiniLM-L6-v2": transformers.BertConfig(
        **SIZES, hidden_size=24, intermediate_size=8, num_hidden_layers=6, num_attention_heads=12
    ),
    "facebook/bart-base": transformers.BartConfig(
        **SIZES,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        decoder_start_token_id=3,
    ),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run an example in a folder of its own, where its model is a tiny one; its names."""
    monkeypatch.chdir(tmp_path)

    def run(code: str) -> dict:
        (name,) = re.findall(r'(?m)^name = "(.+)"', code)
        transformers.set_seed(0)
        transformers.AutoModel.from_config(MODELS[name]).eval().save_pretrained(name)
        (tmp_path / "vocab.txt").write_text("\n".join(WORDS))
        transformers.BertTokenizerFast("vocab.txt").save_pretrained(name)
        names: dict = {}
        exec(code, names)
        return names

    return run


def test_the_page_has_four():
    assert len(EXAMPLES) == 4


def test_a_layer_is_recorded_and_saved(run):
    names = run(EXAMPLES[0])
    assert names["words"] == ["[CLS]", "the", "animal", "was", "tired", "[SEP]"]
    assert names["trace"].weights.shape[-2:] == (6, 6)
    assert attention.verify(attention.Taken.load("run.safetensors")).agrees


def test_finished_attentions_are_a_capture(run):
    taken = run(EXAMPLES[1])["taken"]
    assert len(taken) == 6 and words_of(taken, taken[3], 0)[1][2] == "animal"
    own = run(EXAMPLES[0])["taken"]
    assert abs(taken[3].trace(0, 5).weights - own[3].trace(0, 5).weights).max() < 1e-6


def test_two_sequences_get_their_words(run):
    names = run(EXAMPLES[2])
    assert names["target"] == ["[CLS]", "it", "was", "tired", "[SEP]"]
    assert attention.verify(names["taken"]).agrees
    *_, crossed = names["taken"]
    expected = tuple(names["target"]), tuple(names["source"])
    assert words_of(names["taken"], crossed, 0) == expected


def test_without_this_package_the_file_is_read_as_one_of_ours(run):
    run(EXAMPLES[3])
    taken = attention.Taken.load("run.safetensors")
    assert len(taken) == 6 and attention.verify(taken).agrees
