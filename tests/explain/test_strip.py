"""Every claim of the sentence above the board, checked against the numbers by code of its own."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from attention import multi_head_attention, scaled_dot_product_attention
from attention.explain.strip import Strip, asking, strip_of, strip_of_pair
from attention.explain.view import View
from attention.readers.select import SelectedArray
from attention.session.bring.finished import with_weights
from attention.session.compare import pair
from attention.session.edit import changes
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run, view
from attention.vocabulary.numbers import number

ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
COUNTS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
WORD = r"(?:itself|[Tt]he \w+ “[^”]*”|“[^”]*” no\.\xa0\d+|“[^”]*”)"
LIST = rf"(?:(?:both|all \w+) “[^”]*”|\w+ (?:words|keys)|{WORD}(?:, {WORD})*(?: and {WORD})?)"
SHARE = r"(?:<1|>99|\d+)%"
NUMBER = r"[−\d.e]+"
SINK = rf"(?:; (?P<sink>{SHARE}) goes to the sink)?\."
GROUP = rf"{LIST} \({SHARE}(?: each)?\)"
ALL = rf"(?P<all>all [\w,]+ (?:words|keys)(?: it can see)?|{LIST})"
CLAIMS = {
    "none": r"sees no key, so its weights and output are 0\.",
    "broken": r"has weights that are not numbers\.",
    "alone": rf"can see only (?P<key>{WORD}), so all the weight goes there\.",
    "alone_sink": rf"can see only (?P<key>{WORD}) \((?P<share>{SHARE})\);"
    rf" the sink gets (?P<sink>{SHARE})\.",
    "alone_raw": rf"can see only (?P<key>{WORD}), which gets the weight (?P<number>{NUMBER})\.",
    "same_raw": rf"gives {ALL} the same weight, (?P<number>{NUMBER})\.",
    "largest_raw": rf"gives (?P<keys>{LIST}) its largest weights?, (?P<number>{NUMBER})\.",
    "equally": rf"looks at {ALL} about equally \((?P<span>.*)\){SINK}",
    "to_sink": rf"gives most to the sink \((?P<sink>{SHARE})\), then to (?P<group>{GROUP})\.",
    "only": rf"looks only at (?P<key>{WORD}) \(100%\)\.",
    "almost": rf"looks almost only at (?P<key>{WORD}) \((?P<share>{SHARE})\){SINK}",
    "mostly": rf"looks mostly at (?P<groups>{GROUP}(?: and {GROUP})?){SINK}",
    "all": rf"looks at (?P<groups>{GROUP}(?: and {GROUP})?){SINK}",
    "largest": rf"gives its largest weights? to (?P<groups>{GROUP}(?: and {GROUP})?){SINK}",
}


def is_percent(text: str, share: float) -> bool:
    """Whether a percentage says this share, by the limits of its rounding."""
    if text == "<1%":
        return 0 < share < 0.0050001
    if text == ">99%":
        return 0.9949999 < share < 1
    return abs(100 * share - int(text.rstrip("%"))) <= 0.5000001


class Reader:
    """A row of weights, and which of its keys a text names."""

    def __init__(self, words, query, weights, allowed, crossed):
        self.words, self.query, self.crossed = list(words), query, crossed
        self.w, self.seen = np.asarray(weights, float), np.flatnonzero(allowed).tolist()

    def one(self, text: str) -> int:
        if text == "itself":
            assert not self.crossed
            return self.query
        word = re.search("“(.*)”", text)[1]
        at = [k for k, other in enumerate(self.words) if other == word]
        if numbered := re.search(r"no\.\xa0(\d+)", text):
            return at[int(numbered[1]) - 1]
        if text.startswith("“"):
            assert len(at) == 1, text
            return at[0]
        return at[ORDINALS.index(text.split()[1])]

    def several(self, text: str) -> list[int]:
        """The keys of a list; of a count, those that weigh most."""
        if counted := re.fullmatch(r"(\w+) (words|keys)", text):
            assert (counted[2] == "keys") == self.crossed
            count = COUNTS.get(counted[1]) or int(counted[1])
            return sorted(self.seen, key=lambda j: -self.w[j])[:count]
        if every := re.fullmatch(r"(both|all (\w+)) “([^”]*)”", text):
            at = [k for k, other in enumerate(self.words) if other == every[3]]
            assert len(at) == (2 if every[1] == "both" else COUNTS.get(every[2]) or int(every[2]))
            assert self.query not in at or self.crossed
            return at
        return [self.one(word) for word in re.findall(WORD, text)]

    def group(self, text: str) -> list[int]:
        found = re.fullmatch(rf"(?P<keys>{LIST}) \((?P<share>{SHARE})(?P<each> each)?\)", text)
        keys = self.several(found["keys"])
        assert bool(found["each"]) == (len(keys) > 1)
        assert all(is_percent(found["share"], self.w[j]) for j in keys)
        return keys

    def all(self, text: str) -> None:
        if not text.startswith("all "):
            assert sorted(self.several(text)) == self.seen
            return
        found = re.fullmatch(r"all ([\w,]+) (words|keys)( it can see)?", text)
        if not found:
            assert sorted(self.several(text)) == self.seen
            return
        assert (COUNTS.get(found[1]) or int(found[1].replace(",", ""))) == len(self.seen)
        assert bool(found[3]) == (len(self.seen) < len(self.w))
        assert (found[2] == "keys") == self.crossed


def check_largest(kind: str, said: re.Match, row: Reader, sink: float) -> None:
    """Check what is said of the words that get most: who they are, and how much it is."""
    w, most = row.w, max(row.w[row.seen])
    groups = [row.group(text) for text in re.findall(GROUP, said["groups"])]
    named = [j for group in groups for j in group]
    assert len(set(named)) == len(named)
    least = max(0.5, 1.2 * len(named) / len(row.seen))
    if kind == "all":
        assert sink == 0 and all(w[j] == 0 for j in row.seen if j not in named)
    else:
        assert (sum(w[named]) > least) == (kind == "mostly")
    others = [w[j] for j in row.seen if j not in named]
    assert min(w[named]) >= 0.98 * max(others, default=0)
    assert max(w[groups[0]]) == most
    assert len(groups) == 1 or min(w[groups[0]]) > max(w[groups[1]])
    if kind == "largest":
        assert ("weights to" in said[0]) == (len(named) > 1)


def check(sentence: str, row: Reader, sink: float) -> str:
    """Check each claim; return which kind of sentence it is. ``sink`` is the share of the sink."""
    w, seen = row.w, row.seen
    found = re.fullmatch(rf"(?:In head \d+, )?(?P<who>{WORD}) (?P<rest>.*)", sentence)
    kinds = {kind: re.fullmatch(pattern, found["rest"]) for kind, pattern in CLAIMS.items()}
    [(kind, said)] = [(kind, match) for kind, match in kinds.items() if match]
    parts = said.groupdict()
    if "sink" in parts and kind not in ("alone_sink", "to_sink"):
        assert (parts["sink"] is not None) == (sink >= 0.1)
    if parts.get("sink"):
        assert is_percent(parts["sink"], sink)
    if kind == "none":
        assert not seen and not w.any()
        return kind
    if kind == "broken":
        assert not np.isfinite(w[seen]).all()
        return kind
    most = max(w[seen])
    if "alone" in kind:
        assert seen == [row.one(parts["key"])]
    if kind == "alone":
        assert w[seen[0]] == pytest.approx(1) and sink == 0
    elif kind == "alone_sink":
        assert is_percent(parts["share"], w[seen[0]])
    elif "raw" in kind:
        top = [j for j in seen if most - w[j] <= abs(most) / 100 and number(w[j]) == number(most)]
        assert parts["number"] == number(most)
        if kind == "same_raw":
            row.all(parts["all"])
            assert top == seen
        elif kind == "largest_raw":
            assert sorted(row.several(parts["keys"])) == top
    elif kind == "equally":
        row.all(parts["all"])
        assert most <= 1.1 * min(w[seen]) * (1 + 1e-12)
        ends = parts["span"].removesuffix(" each").split(" to ")
        assert is_percent(ends[0], min(w[seen])) and is_percent(ends[-1], most)
    elif kind == "to_sink":
        top = row.group(parts["group"])
        assert sink > most == pytest.approx(max(w[top])) and min(w[top]) > 0.98 * most
    elif kind == "only":
        [j] = row.several(parts["key"])
        assert all(w[k] == 0 for k in seen if k != j) and w[j] == pytest.approx(1) and sink == 0
    elif kind == "almost":
        j = row.one(parts["key"])
        assert w[j] == most >= 0.9 and is_percent(parts["share"], most)
    else:
        check_largest(kind, said, row, sink)
    return kind


def texts(strip: Strip) -> str:
    return "".join(text for text, _ in strip.sentence)


VOCABULARY = ["the", "cat", "sat", "on", "the", "mat", "and", "the", "dog", "saw", "le"]


def random_state(rng: np.random.Generator, of=None):
    """A view of a random attention and what its labels were made of; of these, where given."""
    n, crossed = int(rng.integers(1, 13)), rng.random() < 0.25
    m = int(rng.integers(1, 13)) if crossed else n
    words, keys = (rng.choice(VOCABULARY, count).tolist() for count in (n, m))
    keys = keys if crossed else words
    if of is not None:
        words, keys, crossed = of
        n, m = len(words), len(keys)
    heads = int(rng.choice([1, 1, 2]))
    spread = float(rng.choice([0, 0.02, 0.3, 1, 3, 30]))
    Q, K, V = (rng.normal(size=(count, 4)) for count in (n, m, m))
    if rng.random() < 0.3:  # words that are the same score the same
        K = np.array([K[keys.index(word)] for word in keys])
    softmax = rng.choice(["shares", "shares", "shares", "sigmoid", "raw"])
    options = {"softmax": {"shares": True, "sigmoid": "sigmoid", "raw": False}[softmax]}
    if softmax == "shares" and rng.random() < 0.3:
        options["sinks"] = rng.normal(scale=2, size=heads)
    allowed = np.ones((n, m), bool)
    if rng.random() < 0.5:
        allowed = rng.random((n, m)) < rng.choice([0.1, 0.3, 0.7, 0.95])
    trace = multi_head_attention(
        Q * spread, K, V, heads=heads, allowed=allowed, scale=0.5, **options
    )
    head = int(rng.integers(heads))
    shown = View.of(trace, tokens=words, key_tokens=keys if crossed else None, head=head)
    return shown, words, keys, crossed


@pytest.mark.parametrize("seed", range(4))
def test_every_sentence_is_true_of_its_row(seed):
    rng, kinds = np.random.default_rng(seed), Counter()
    while kinds.total() < 500:
        shown, words, keys, crossed = random_state(rng)
        i = int(rng.integers(len(words)))
        w, allowed = shown.stages["weights"][i], shown.allowed[i]
        sink = 1 - float(w.sum()) if shown.sink is not None else 0.0
        said = strip_of(shown, i)
        row = Reader(keys, i, w, allowed, crossed)
        kinds[check(texts(said), row, sink)] += 1
        who = re.match(rf"(?:In head \d, )?({WORD})", texts(said))[1]
        asked = Reader(words, i, w, allowed, crossed)
        assert asked.one(who[0].lower() + who[1:] if who[0] == "T" else who) == i
    assert set(kinds) >= {"none", "alone", "equally", "mostly", "largest", "almost", "largest_raw"}


BRIEF = rf"it gives (?P<key>{WORD}) (?P<text>{SHARE}|{NUMBER})\."


def same_word(words: list[str], i: int, others: list[str]) -> int | None:
    """Where the others have this occurrence of a word; None where they have it less often."""
    at = [k for k, other in enumerate(others) if other == words[i]]
    which = words[:i].count(words[i])
    alone = words.count(words[i]) == 1
    return at[which] if which < len(at) and alone == (len(at) == 1) else None


def sink_of(view: View, i: int) -> float:
    """What the sink takes of a row."""
    return 1 - float(view.stages["weights"][i].sum()) if view.sink is not None else 0.0


def written(view: View, i: int, j: int) -> set[str]:
    """How a weight may stand in the strip."""
    w, allowed = view.stages["weights"][i, j], view.allowed[i, j]
    near = {f"{round(100 * w + off)}%" for off in (-0.4, 0, 0.4)} | {"<1%", ">99%"}
    return {"–"} if not allowed else {text for text in near if is_percent(text, w)} | {number(w)}


@pytest.mark.parametrize("seed", range(4))
def test_of_two_all_that_is_said_is_true_of_its_side(seed):
    rng, kinds = np.random.default_rng(seed), Counter()
    for _ in range(300):
        b, words, keys, crossed = random_state(rng)
        a, kind = b, rng.choice(["same", "other", "reordered", "fewer"])
        before, keys_before = words, keys
        if kind != "same":
            before, keys_before = (
                list(rng.permutation(w)) if kind == "reordered" else w for w in (words, keys)
            )
            before = before[: 1 + len(before) // 2] if kind == "fewer" and crossed else before
            keys_before = keys_before if crossed else before
            a, *_ = random_state(rng, (before, keys_before, crossed))
        i = int(rng.integers(len(words)))
        found, i_a = strip_of_pair(a, b, i), same_word(words, i, before)
        assert found.compares and found.shades == strip_of(b, i).shades
        comparable = i_a is not None and (a.softmax is True) == (b.softmax is True)
        for j, share in enumerate(found.shares):
            first, arrow, last = share.rpartition("→")
            assert last in written(b, i, j)
            j_a = same_word(keys, j, keys_before)
            if not comparable or j_a is None:
                assert (first, arrow) == ("", "→")
            elif arrow:
                assert {first, f"{first}%"} & written(a, i_a, j_a)
            else:
                assert last in written(a, i_a, j_a)
        parts = re.fullmatch(
            r"In (?:head (\d) of )?(A and B|B), (.*?\.)"
            r"(?: A does not have (.*)\.| In (?:head (\d) of )?A, (it .*))?",
            texts(found),
        )
        head, sides, of_b, missing, head_a, of_a = parts.groups()
        row = Reader(keys, i, b.stages["weights"][i], b.allowed[i], crossed)
        kind_b = check(of_b, row, sink_of(b, i))
        assert head == (str(b.head) if b.heads > 1 else None)
        assert (missing is not None) == (i_a is None)
        kinds[sides + bool(of_a) * " A"] += 1
        if i_a is None:
            continue
        row_a = Reader(keys_before, i_a, a.stages["weights"][i_a], a.allowed[i_a], crossed)
        if sides == "A and B":
            assert (a.heads, a.head) == (b.heads, b.head)
            assert check(of_b, row_a, sink_of(a, i_a)) == kind_b
            continue
        assert head_a == (str(a.head) if a.heads > 1 else None)
        if brief := re.fullmatch(BRIEF, of_a):
            j = row_a.one(brief["key"])
            assert brief["text"] in written(a, i_a, j)
            assert row_a.w[j] >= 0.98 * max([*row_a.w[row_a.seen], sink_of(a, i_a)])
            kinds["brief"] += 1
        else:
            check(of_a.replace("it ", "“it” ", 1), row_a, sink_of(a, i_a))
    assert set(kinds) == {"A and B", "B", "B A", "brief"}


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            (0.47, 0.29, 0.24),
            (0.69, 0.25, 0.06),
            "looks mostly at “the” (69%) and “cat” (25%). In A, it gives “the” 47%.",
        ),
        (
            (0.1, 0.6, 0.3),
            (0.97, 0.02, 0.01),
            "looks almost only at “the” (97%). In A, it looks mostly at “cat” (60%) and “sat”"
            " (30%).",
        ),
        (
            (0.4, 0.4, 0.2),
            (0.34, 0.33, 0.33),
            "looks at all three keys about equally (33% to 34%). In A, it looks mostly"
            " at “the” and “cat” (40% each).",
        ),
    ],
)
def test_two_rows_of_these_weights_get_this_sentence(before, after, sentence):
    assert (
        texts(strip_of_pair(weighing(*before), weighing(*after), 0)) == f"In B, “query” {sentence}"
    )


def test_of_two_that_are_not_written_alike_each_has_its_own_words():
    Q, K, V = np.ones((1, 1)), np.log([[0.3], [0.7]]), np.ones((2, 1))
    named = {"tokens": ["a"], "key_tokens": ["b", "c"]}
    raw, shares = (
        View.of(scaled_dot_product_attention(Q, K, V, scale=1, softmax=softmax), **named)
        for softmax in (False, True)
    )
    found = strip_of_pair(raw, shares, 0)
    assert found.shares == ("→30%", "→70%")
    assert texts(found) == (
        "In B, “a” looks at “c” (70%) and “b” (30%). In A, it gives “c” its largest weight, −0.36."
    )
    other = replace(shares, labels=shares.labels | {"queries": ("z",)})
    assert texts(strip_of_pair(other, shares, 0)).endswith("A does not have “a”.")
    none = replace(shares, allowed=np.zeros((1, 2), bool))
    assert texts(strip_of_pair(none, shares, 0)).endswith(
        "In A, it sees no key, so its weights and output are 0."
    )


def test_weights_that_are_asked_for_are_neither_said_nor_shaded():
    s = EXAMPLES["cat-sat"].build()
    found = strip_of(view(s, run(s)), 2)
    asked = asking(found, [False, True, False, False, False, False])
    assert texts(asked) == "Where does “sat” look most?"
    assert asked.shares == ("6%", "?", "11%", "29%", "6%", "1%") and asked.shades[1] == 0
    assert asking(found, [False] * 6) == found


def weighing(*weights: float, tokens: str = "the cat sat on the mat") -> View:
    """A view of one query of which these are the weights, in float64."""
    return View.of(
        scaled_dot_product_attention(
            np.ones((1, 1)), np.log(np.array(weights))[:, None], np.ones((len(weights), 1)), scale=1
        ),
        tokens=["query"],
        key_tokens=tokens.split()[: len(weights)],
    )


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ((0.4, 0.05, 0.05, 0.05, 0.4, 0.05), "“query” looks mostly at both “the” (40% each)."),
        ((0.25, 0.25, 0.25, 0.25), "“query” looks at all four keys about equally (25% each)."),
        ((0.26, 0.24, 0.26, 0.24), "“query” looks at all four keys about equally (24% to 26%)."),
        ((0.6, 0.4), "“query” looks at “the” (60%) and “cat” (40%)."),
        ((0.39, 0.32, 0.29), "“query” gives its largest weights to “the” (39%) and “cat” (32%)."),
        ((0.51, 0.49), "“query” looks at “the” and “cat” about equally (49% to 51%)."),
        (
            (0.3, 0.3, 0.3, 0.1),
            "“query” gives its largest weights to “the”, “cat” and “sat” (30% each).",
        ),
        (
            (0.17, 0.17, 0.17, 0.17, 0.17, 0.15),
            "“query” gives its largest weights to five keys (17% each).",
        ),
        ((0.2, 0.4, 0.2, 0.2), "“query” gives its largest weight to “cat” (40%)."),
        ((0.03, 0.97), "“query” looks almost only at “cat” (97%)."),
        ((0.999, 0.001), "“query” looks almost only at “the” (>99%)."),
        ((1.0, 1e-320), "“query” looks almost only at “the” (100%)."),
    ],
)
def test_a_row_of_these_weights_gets_this_sentence(weights, sentence):
    assert texts(strip_of(weighing(*weights), 0)) == sentence


def test_what_the_sink_takes_is_said_where_one_key_has_all_the_rest():
    trace = scaled_dot_product_attention([[1.0]], [[0.0], [-2000.0]], [[1], [1]], sinks=-0.4)
    strip = strip_of(View.of(trace, tokens=["a"], key_tokens=["b", "c"]), 0)
    assert texts(strip) == "“a” gives its largest weight to “b” (60%); 40% goes to the sink."


def test_weights_that_look_the_same_and_are_not_are_not_called_the_same():
    trace = scaled_dot_product_attention([[1.0]], [[0.51], [1.4]], [[1], [1]], softmax=False)
    shown = View.of(trace, tokens=["a"], key_tokens=["b", "c"])
    assert texts(strip_of(shown, 0, digits=0)) == "“a” gives “c” its largest weight, 1."


def test_finished_weights_of_0_alone_are_of_a_query_that_sees_no_key():
    weights = np.array([[[0.0, 0, 0], [0.2, 0.3, 0.5]], [[0.5, 0.5, 0], [0.2, 0.3, 0.5]]])
    brought = SelectedArray(weights)
    s, _ = with_weights(EXAMPLES["four-words"].build(), brought, ("a", "b"), ("c", "d", "e"))
    assert texts(strip_of(view(s, run(s)), 0)).endswith("sees no key, so its weights are 0.")


def test_shares_are_percentages_and_hidden_keys_a_dash():
    s = EXAMPLES["random-qkv"].build()
    strip = strip_of(view(s, run(s)), 1)
    assert strip.shares == ("3%", "97%", "–", "–")
    assert strip.shades[2:] == (0, 0) and strip.shades[1] == pytest.approx(0.97, abs=0.005)


def test_weights_without_softmax_are_numbers_and_shaded_by_the_largest():
    s = EXAMPLES["bare-bones"].build()
    strip = strip_of(view(s, run(s)), 0)
    assert strip.shares[:2] == ("5.57", "−3.81")
    assert strip.shades[:2] == (1, pytest.approx(-3.81 / 5.57, abs=0.001))


def test_numbers_that_are_none_are_called_so():
    shown = View.of(scaled_dot_product_attention([[np.nan], [1]], [[1], [2]], [[1], [1]]))
    assert texts(strip_of(shown, 0)) == "“1” has weights that are not numbers."
    assert strip_of(shown, 0).shares == ("NaN", "NaN")
    assert strip_of(shown, 0).shades == (0, 0)


def test_parts_of_the_sentence_name_the_query_and_the_keys():
    s = EXAMPLES["cat-sat"].build()
    parts = strip_of(view(s, run(s)), 2).sentence
    assert [part for part in parts if part[1]] == [
        ("“sat”", "query"),
        ("“cat”", "key"),
        ("“on”", "key"),
    ]


def test_keys_are_named_only_where_they_are_not_the_queries():
    own, other = EXAMPLES["cat-sat"].build(), EXAMPLES["lookup"].build()
    assert strip_of(view(own, run(own)), 0).keys == ()
    assert strip_of(view(other, run(other)), 0).keys == ("a b", "a c", "b", "c d")


@pytest.mark.parametrize(
    ("sentence", "is_itself"),
    [("my sister plays the guitar", False), ("night owl", True), ("a cat is a cat", True)],
)
def test_of_a_step_with_a_cache_the_last_word_alone_is_itself_in_a(sentence, is_itself):
    s = changes.set_sentence(EXAMPLES["cat-sat"].build(), sentence)
    a, b = pair.views(pair.PRESETS["step"].make(s))
    [weights] = a.stages["weights"]
    assert (weights[-1] > 0.99 * weights.max()) == is_itself
    assert ("itself" in texts(strip_of_pair(a, b, 0))) == is_itself
    np.testing.assert_allclose(a.stages["weights"], b.stages["weights"], rtol=1e-12)
