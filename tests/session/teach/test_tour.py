"""The guided tour: every claim of every step, read from its sentences and computed again here."""

import math
import re
from dataclasses import replace

import messages
import numpy as np
import pytest

from attention.session.edit.changes import set_heads, set_mask, set_memory, set_tokens
from attention.session.state.examples import EXAMPLES
from attention.session.state.matrix import Matrix
from attention.session.state.settings import DRAWN, LAST_STEP, PUSHED, Settings, as_drawn
from attention.session.teach import tour
from attention.session.teach.tour import Now

CAT = EXAMPLES["cat-sat"].build()
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
NUMBER = r"−?\d+(?:\.\d+)?(?:e−?\d+)?"
SENTENCES = 50


# ---- the computation, by plain loops -------------------------------------------------------------


def times(A, B):
    """A matrix product of lists."""
    columns = list(zip(*B, strict=True))
    return [
        [math.fsum(x * y for x, y in zip(row, column, strict=True)) for column in columns]
        for row in A
    ]


def loops(s, scale=None, hidden=(), heads=1, head=0):
    """Every stage of a head, as lists; ``hidden`` are pairs of query and key."""
    m = {name: matrix.values.tolist() for name, matrix in s.matrices.items()}
    found = {"X": m["X"]}
    for name in "QKV":
        whole = times(m["X"], m[f"W_{name}"])
        width = len(whole[0]) // heads
        found[name] = [row[head * width : (head + 1) * width] for row in whole]
    keys = [list(column) for column in zip(*found["K"], strict=True)]
    found["scores"] = times(found["Q"], keys)
    by = scale or 1 / math.sqrt(len(keys))
    found["scaled"] = [[score * by for score in row] for row in found["scores"]]
    found["weights"] = []
    for i, row in enumerate(found["scaled"]):
        seen = [j for j in range(len(row)) if (i, j) not in hidden]
        highest = max((row[j] for j in seen), default=0.0)
        powers = [math.exp(row[j] - highest) if j in seen else 0.0 for j in range(len(row))]
        found["weights"].append([power / (math.fsum(powers) or 1.0) for power in powers])
    found["output"] = times(found["weights"], found["V"])
    return found


# ---- the sentences -------------------------------------------------------------------------------


def fields(template, text):
    """The fields of a message as they are in a text; None where the text is another message."""
    pattern, seen = re.escape(template), set()
    for name in re.findall(r"\\\{(\w+)\\\}", pattern):
        group = f"(?P={name})" if name in seen else f"(?P<{name}>.+?)"
        pattern = pattern.replace(rf"\{{{name}\}}", group, 1)
        seen.add(name)
    found = re.fullmatch(pattern, text)
    return found and found.groupdict()


def which(text, *names):
    """The message that a text is, by its name, and its fields."""
    for name in names:
        found = fields(getattr(messages, name), text)
        if found is not None:
            return name, found
    raise AssertionError(f"{text!r} is none of {names}")


def name_of(tokens, k):
    if tokens.count(tokens[k]) == 1:
        return f"“{tokens[k]}”"
    return f"the {ORDINALS[tokens[:k].count(tokens[k])]} “{tokens[k]}”"


def word(tokens, name, itself=-1):
    """Which word a name is, at the beginning of a sentence too."""
    if name == "itself":
        return itself
    lower = name[:1].lower() + name[1:]
    return [name_of(tokens, k) for k in range(len(tokens))].index(lower)


def words(tokens, names, itself=-1):
    return [word(tokens, name, itself) for name in re.split(r", | and ", names)]


def value(text):
    return float(text.replace("−", "-"))


def shows(text, number, digits):
    """Whether a text is this number, to its digits."""
    error = 0.5 * 10.0**-digits + 1e-9
    if "e" in text:
        error = abs(number) * 0.5 * 10.0 ** (1 - max(digits, 1)) + 1e-9
    return abs(value(text) - number) <= error


def show(text, row, digits):
    """Whether a text is this row, or its first six numbers."""
    texts = text.strip("[]").split(", ")
    cut = texts[-1] == "…"
    assert cut == (len(row) > 6), text
    texts = texts[:6]
    return len(texts) == min(len(row), 6) and all(
        shows(t, x, digits) for t, x in zip(texts, row, strict=False)
    )


def largest(row):
    """The keys with the largest weight, up to rounding."""
    return [j for j, weight in enumerate(row) if weight >= max(row) * (1 - 1e-11)]


# ---- sentences of all kinds ----------------------------------------------------------------------


def random_settings(seed):
    """A sentence with words that repeat, and numbers that do, too."""
    rng = np.random.default_rng(seed)
    n, d_model = rng.integers(2, 11), rng.integers(1, 6)
    d_k, d_v = rng.choice([2, 4, 6, 8], 2)
    if not seed % 9:
        d_k = 2
    tokens = tuple(rng.choice(["the", "cat", "sat", "on", "a", "mat", "it"], n).tolist())
    shapes = {"X": (n, d_model), "W_Q": (d_model, d_k), "W_K": (d_model, d_k)}
    shapes["W_V"] = (d_model, d_v)
    kind = ["whole", "decimal", "equal", "few", "zero"][seed % 5]
    matrices = {}
    for name, shape in shapes.items():
        drawn = rng.integers(-2, 3, shape).astype(float)
        if kind == "decimal":
            drawn = np.round(rng.normal(size=shape), 3)
        if kind == "few":
            drawn = rng.integers(0, 2, shape).astype(float)
        if kind == "zero" and name in ("W_Q", "W_V"):
            drawn[rng.integers(d_model)] = 0
        matrices[name] = drawn
    if kind == "equal":
        matrices["X"][:] = matrices["X"][0]
    if not seed % 7:
        matrices["W_K"] = matrices["W_Q"]
    return replace(
        CAT,
        tokens=tokens,
        matrices={name: Matrix(drawn) for name, drawn in matrices.items()},
        query=int(rng.integers(n)),
        digits=int(rng.integers(1, 4)),
    )


CASES = {"default": CAT} | {str(seed): random_settings(seed) for seed in range(SENTENCES)}


@pytest.fixture(params=CASES.values(), ids=CASES)
def s(request) -> Settings:
    return request.param


def step(s, k):
    """What a step begins with, its idea and what it asks for."""
    before = Now(tour.go(s, k))
    said = tour.reply(before, before)
    assert said.kind == "ask"
    return before, tour.idea(before, before), said.text


def replied(before, kind, **changed):
    """What is said after a change of the settings."""
    now = Now(replace(before.s, **changed))
    said = tour.reply(before, now)
    assert said.kind == kind, said
    return said.text, tour.idea(before, now)


def strongest(s):
    return largest(loops(s)["weights"][s.query])


# ---- each step -----------------------------------------------------------------------------------


def test_the_introduction_says_what_the_clicked_word_takes(s):
    before, _, _ = step(s, 0)
    for query in range(len(s.tokens)):
        if query == s.query:
            continue
        said, _ = replied(before, "done", query=query)
        _, found = which(said, "TOUR_TAKES")
        assert word(s.tokens, found["query"]) == query
        row = loops(s)["weights"][query]
        j = word(s.tokens, found["key"], query)
        assert j in largest(row)
        assert f"{100 * row[j]:.0f}%" == found["share"] or found["share"] in ("<1%", ">99%")


def test_queries_change_as_the_sentence_says(s):
    before, idea, ask = step(s, 1)
    _, found = which(idea, "TOUR_QUERY")
    assert word(s.tokens, found["query"]) == s.query
    assert show(found["row"], loops(s)["Q"][s.query], s.digits)
    assert word(s.tokens, which(ask, "TOUR_CHANGE")[1]["query"]) == s.query
    was = loops(s)["Q"]
    for row in range(len(s.tokens)):
        for column in range(s.d_model):
            X = s.matrices["X"].values.copy()
            X[row, column] += 1
            typed = s.with_matrix("X", Matrix(X))
            now = loops(typed)["Q"]
            said, _ = replied(before, "done", matrices=typed.matrices)
            names = "TOUR_OTHER_CHANGED", "TOUR_OTHER_STAYED"
            if row == s.query:
                names = "TOUR_QUERY_CHANGED", "TOUR_QUERY_STAYED", "TOUR_QUERY_HARDLY"
            name, found = which(said, *names)
            assert word(s.tokens, found["query"]) == s.query
            assert [k for k in range(len(now)) if now[k] != was[k]] == [row] * (
                not name.endswith("STAYED")
            )
            if row != s.query:
                assert word(s.tokens, found["other"]) == row
            if "after" in found:
                assert show(found["after"], now[row], s.digits)
            if "before" in found:
                assert show(found["before"], was[row], s.digits)
                assert found["before"] != found["after"]


def test_keys_stay_when_another_word_is_the_query(s):
    before, idea, _ = step(s, 2)
    name, found = which(idea, "TOUR_KEY", "TOUR_SAME_KEY")
    j = word(s.tokens, found["key"])
    assert j in strongest(s)
    assert show(found["row"], loops(s)["K"][j], s.digits)
    W_Q, W_K = (s.matrices[weights].values.tolist() for weights in ("W_Q", "W_K"))
    assert (W_Q == W_K) == (name == "TOUR_SAME_KEY")
    other = (s.query + 1) % len(s.tokens)
    said, after = replied(before, "done", query=other)
    assert after == idea
    now = Now(replace(before.s, query=other))
    assert tour.STEPS[2].cell(before, now) == ("K", j, 0)
    _, found = which(said, "TOUR_QUERY_IS")
    assert [word(s.tokens, found[name]) for name in ("before", "after")] == [s.query, other]


def test_the_score_is_the_dot_product_that_is_written_out(s):
    before, idea, ask = step(s, 3)
    _, found = which(idea, "TOUR_SCORE")
    j = word(s.tokens, found["key"])
    assert word(s.tokens, found["query"]) == s.query and j in strongest(s)
    by_loops = loops(s)
    q, k, score = (by_loops[n][r] for n, r in (("Q", s.query), ("K", j), ("scores", s.query)))
    work = found["work"]
    if len(q) > 6:
        total = fields(messages.TOUR_SUM, work)
        assert int(total["count"]) == len(q) and shows(total["total"], score[j], s.digits)
    else:
        terms, sign, total = re.fullmatch(r"(.*) ([=≈]) (\S+)", work).groups()
        pairs = [[value(t.strip("()")) for t in pair.split("·")] for pair in terms.split(" + ")]
        assert shows(total, score[j], s.digits)
        added = sum(x * y for x, y in pairs)
        assert len(pairs) == len(q)
        error = sum(abs(x) + abs(y) + 1 for x, y in zip(q, k, strict=True)) * 10.0**-s.digits
        assert abs(added - value(total)) <= (1e-9 if sign == "=" else error)
    found = which(ask, "TOUR_CLICK")[1]
    assert [word(s.tokens, found[name]) for name in ("query", "key")] == [s.query, j]
    for row in range(len(s.tokens)):
        for column in range(len(s.tokens)):
            is_it = (row, column) == (s.query, j)
            kind = "done" if is_it else "missed"
            said, _ = replied(before, kind, cell=("scores", row, column))
            if is_it:
                assert said == messages.TOUR_CARD
                continue
            found = which(said, "TOUR_OTHER_SCORE")[1]
            assert word(s.tokens, found["row"]) == row
            assert word(s.tokens, found["column"], row) == column
            assert [word(s.tokens, found[n]) for n in ("query", "key")] == [s.query, j]
    said, _ = replied(before, "missed", cell=("weights", 0, 0))
    assert which(said, "TOUR_OTHER_STAGE")[1]["stage"] == "weights"


def test_a_large_number_that_is_written_rounded_is_not_said_to_be_equal():
    X = CAT.matrices["X"].values.copy()
    X[CAT.query] = 234_567_891
    before = Now(tour.go(CAT.with_matrix("X", Matrix(X)), 3))
    work = which(tour.idea(before, before), "TOUR_SCORE")[1]["work"]
    assert "2.3e8" in work and " ≈ " in work and "=" not in work


def test_the_largest_weight_grows_without_the_scale_where_it_says_so(s):
    before, idea, _ = step(s, 4)
    d_k = s.d_k
    divided, undivided = (loops(s, scale)["weights"][s.query] for scale in (None, 1.0))
    name, found = which(idea, "TOUR_SCALE", "TOUR_SCALE_SAME")
    sign, root = found["root"].split()
    assert shows(root, math.sqrt(d_k), max(s.digits, 2))
    assert (sign == "=") == (math.isqrt(d_k) ** 2 == d_k)
    said, after = replied(before, "done", scale=1.0)
    assert after == idea
    names = "TOUR_UNSCALED", "TOUR_UNSCALED_HARDLY", "TOUR_UNSCALED_SAME"
    done, told = which(said, *names)
    assert (name == "TOUR_SCALE") == (done == "TOUR_UNSCALED")
    for texts in (found, told):
        assert word(s.tokens, texts["query"]) == s.query
        if "weight" in texts:
            assert all(shows(texts["weight"], max(w), s.digits) for w in (divided, undivided))
        else:
            assert shows(texts["divided"], max(divided), s.digits)
            assert shows(texts["undivided"], max(undivided), s.digits)
            assert value(texts["divided"]) < value(texts["undivided"])
    row = loops(s)["scores"][s.query]
    are_equal = max(row) - min(row) < 1e-9
    assert are_equal == (told.get("why") == messages.TOUR_EQUAL_SCORES)
    left, right = (math.fsum(sorted(w)[:-1]) for w in (divided, undivided))  # of the other keys
    assert (done != "TOUR_UNSCALED_SAME") == (right < left * (1 - 1e-9))
    said, _ = replied(before, "missed", scale=0.5)
    assert value(which(said, "TOUR_OTHER_SCALE")[1]["scale"]) == 0.5


def test_a_look_ahead_mask_hides_what_is_counted(s):
    before, idea, _ = step(s, 5)
    n = len(s.tokens)
    later = sum(j > i for i in range(n) for j in range(n))
    found = which(idea, "TOUR_FUTURE")[1]
    assert (int(found["hidden"]), int(found["scores"])) == (later, n * n)
    said, _ = replied(before, "done", mask="causal")
    name, found = which(said, "TOUR_SEES_ALL", "TOUR_SEES")
    assert word(s.tokens, found["query"]) == s.query
    after = 1 if found["after"] == "only itself" else int(found["after"])
    assert after == s.query + 1
    assert (name == "TOUR_SEES_ALL") == (after == n)
    seen = np.ones((n, n), bool)
    seen[0, 0] = False
    said, _ = replied(before, "missed", mask=DRAWN, drawn=as_drawn(seen))
    assert int(which(said, "TOUR_OTHER_MASK")[1]["hidden"]) == 1


def test_each_answer_to_the_question_of_softmax_is_judged(s):
    before, idea, ask = step(s, 6)
    found = loops(s)
    told = which(idea, "TOUR_SOFTMAX")[1]
    flat = [weight for row in found["weights"] for weight in row]
    assert ("positive" in told["sign"]) == all(weight > 0 for weight in flat)
    assert all(abs(sum(row) - 1) < 1e-9 for row in found["weights"])
    scaled, weights = found["scaled"][s.query], found["weights"][s.query]
    name, told = which(ask, "TOUR_RANGE", "TOUR_ALL_SCORES")
    assert told["stage"] == "scaled"  # nothing is masked
    assert word(s.tokens, told["query"]) == s.query
    assert shows(told["high"], max(scaled), s.digits)
    assert shows(told.get("low", told["high"]), min(scaled), s.digits)
    assert name == "TOUR_RANGE" or max(scaled) - min(scaled) <= 10.0**-s.digits
    options = tour.options(before)
    assert len(options) == len(s.tokens)
    names = "TOUR_RIGHT", "TOUR_RIGHT_EACH", "TOUR_RIGHT_SHOWN", "TOUR_RIGHT_ALL", "TOUR_WRONG"
    for j, option in enumerate(options):
        said = tour.reply(before, before, option)
        name, told = which(said.text, *names)
        assert (said.kind == "done") == (name != "TOUR_WRONG")
        if name == "TOUR_WRONG":
            assert word(s.tokens, told["key"]) == j and j not in largest(weights)
            assert shows(told["score"], scaled[j], s.digits)
            continue
        if name == "TOUR_RIGHT_ALL":
            assert max(weights) - min(weights) < 1e-9
            assert shows(told["weight"], max(weights), s.digits)
            continue
        keys = words(s.tokens, told.get("key") or told["keys"])
        assert j in keys
        assert set(largest(weights)) <= set(keys)
        shown = told.get("weight") or told["weights"]
        for k in keys:
            assert shows(told["score"], scaled[k], s.digits)
            assert any(shows(t, weights[k], s.digits) for t in re.findall(NUMBER, shown))


def hidden_from(s, *pairs):
    seen = np.ones((len(s.tokens), len(s.tokens)), bool)
    for pair in pairs:
        seen[pair] = False
    return {"mask": DRAWN, "drawn": as_drawn(seen)}


def test_hiding_a_key_moves_weights_and_output_as_it_says(s):
    before, idea, ask = step(s, 7)
    i, was = s.query, loops(s)
    told = which(idea, "TOUR_OUTPUT")[1]
    j = word(s.tokens, told["key"])
    assert j in strongest(s) and shows(told["weight"], was["weights"][i][j], s.digits)
    assert show(told["value"], was["V"][j], s.digits)
    assert show(told["output"], was["output"][i], s.digits)
    told = which(ask, "TOUR_HIDE")[1]
    assert word(s.tokens, told["key"]) == j
    assert word(s.tokens, told["query"], i) == i
    for key in range(len(s.tokens)):
        is_it = key in strongest(s)
        said, idea = replied(before, "done" if is_it else "missed", **hidden_from(s, (i, key)))
        now = loops(s, hidden=[(i, key)])
        told = which(idea, "TOUR_OUTPUT")[1]
        assert word(s.tokens, told["key"]) in largest(now["weights"][i])
        if not is_it:
            told = which(said, "TOUR_HID_OTHER")[1]
            assert word(s.tokens, told["other"]) == key
            assert word(s.tokens, told["key"]) in strongest(s)
            assert shows(told["weight"], was["weights"][i][key], s.digits)
            assert shows(told["largest"], max(was["weights"][i]), s.digits)
            continue
        name, told = which(said, "TOUR_HIDDEN", "TOUR_HIDDEN_SAME")
        assert word(s.tokens, told["key"]) == key
        assert shows(told["weight"], was["weights"][i][key], s.digits)
        others = [k for k in range(len(s.tokens)) if k != key]
        assert all(now["weights"][i][k] > was["weights"][i][k] for k in others)
        assert abs(sum(now["weights"][i]) - 1) < 1e-9
        assert show(told["after"], now["output"][i], s.digits)
        assert show(told.get("before", told["after"]), was["output"][i], s.digits)
        assert name != "TOUR_HIDDEN" or told["before"] != told["after"]


def test_hiding_elsewhere_more_or_all_is_told_apart(s):
    before, _, _ = step(s, 7)
    i, n, best = s.query, len(s.tokens), strongest(s)
    other = (i + 1) % n
    said, _ = replied(before, "missed", **hidden_from(s, (other, 0)))
    told = which(said, "TOUR_HID_ELSEWHERE")[1]
    assert word(s.tokens, told["key"]) == 0 and word(s.tokens, told["row"], 0) == other
    assert word(s.tokens, told["query"]) == i and word(s.tokens, told["other"]) in best
    said, idea = replied(before, "done", **hidden_from(s, *((i, j) for j in range(n))))
    assert which(idea, "TOUR_OUTPUT_0") and which(said, "TOUR_HIDDEN_ALL")
    rest = [j for j in range(n) if j not in best]
    if n > 2 and len(rest) > 1:
        said, _ = replied(before, "missed", **hidden_from(s, *((i, j) for j in rest[:2])))
        told = which(said, "TOUR_HID_OTHERS")[1]
        assert words(s.tokens, told["others"]) == rest[:2]
    if n > 2:
        two = [best[0], (best[0] + 1) % n]
        said, _ = replied(before, "done", **hidden_from(s, *((i, j) for j in two)))
        assert messages.TOUR_HIDDEN_MORE in said


def test_two_heads_look_where_it_says(s):
    before, idea, _ = step(s, 8)
    name, told = which(idea, "TOUR_WIDE_HEADS", "TOUR_HEADS")
    found = loops(s)
    assert int(told["all"]) == len(found["Q"][0]) == 2 * int(told["half"])
    if name == "TOUR_WIDE_HEADS":
        assert int(told["v_all"]) == len(found["V"][0]) == 2 * int(told["v_half"])
    else:
        assert len(found["V"][0]) == len(found["Q"][0])
    two = set_heads(before.s, 2)
    assert tour.reply(before, Now(two)) == tour.Reply("ask", messages.TOUR_HEAD_NEXT)
    said = tour.reply(before, Now(replace(two, head=1)))
    assert said.kind == "done"
    text, end = re.fullmatch(r"(.*?\.)( The next step .*)", said.text).groups()
    _, told = which(text, "TOUR_LOOKS_BOTH", "TOUR_LOOKS")
    assert word(s.tokens, told["query"]) == s.query and end
    for head, text in enumerate((told["first"], told.get("second", told["first"]))):
        weights = loops(s, heads=2, head=head)["weights"][s.query]
        best, text = largest(weights), text.removeprefix("most ").removeprefix("at ")
        if len(best) == len(weights):
            assert text.startswith("equally at ")
            assert len(best) == (2 if "both" in text else int(re.search(r"\d+", text)[0]))
        else:
            assert words(s.tokens, text, s.query) == best


def test_each_step_begins_the_same_whatever_was_set(s):
    odd = replace(set_heads(set_mask(s, "causal"), 2), head=1, scale=3.0, padding=(0,))
    odd = replace(odd, cell=("Q", 0, 0), fill=PUSHED)
    for k in range(LAST_STEP + 1):
        begun = tour.go(odd, k)
        assert (begun.step, begun.cell, begun.scale, begun.mask) == (k, None, None, "none")
        assert (begun.heads, begun.head, begun.padding) == (1, 0, ())
        now = Now(begun)
        stage, i, j = tour.STEPS[k].cell(now, now)
        rows, columns = now.shown.stages[stage].shape
        assert 0 <= i < rows and 0 <= j < columns
        assert set(tour.STEPS[k].stages) <= set(now.shown.stages)


# ---- what leads away from a step -----------------------------------------------------------------


def test_the_last_step_and_the_first_are_where_the_tour_ends():
    assert len(tour.STEPS) == LAST_STEP + 1
    assert tour.go(CAT, -1).step == 0
    assert tour.go(CAT, 99).step == LAST_STEP
    end = Now(tour.go(CAT, LAST_STEP))
    assert tour.reply(end, end) == tour.Reply("ask", "")


def test_a_step_of_one_head_asks_for_one_head():
    before = Now(tour.go(CAT, 3))
    two = Now(set_heads(before.s, 2))
    assert tour.reply(before, two) == tour.Reply("missed", messages.TOUR_ONE_HEAD)
    assert tour.idea(before, two) == tour.idea(before, before)


def test_a_query_that_sees_no_key_is_said_to():
    for k in tour.OF_WEIGHTS:
        before = Now(tour.go(CAT, k))
        blind = Now(replace(before.s, **hidden_from(CAT, (CAT.query, range(6)))))
        said = tour.reply(before, blind)
        assert said.kind == "missed" and which(said.text, "TOUR_BLIND")[1]["query"] == "“sat”"
        assert tour.idea(before, blind)


def test_padding_and_another_fill_are_not_taken_for_what_a_step_asks():
    for k in tour.OF_MASKS:
        for odd, said in (
            (replace(CAT, padding=(1,), mask="causal"), messages.TOUR_PADDING),
            (replace(CAT, fill=PUSHED, mask="causal"), messages.TOUR_FILL),
        ):
            now = Now(replace(odd, step=k))
            assert tour.reply(now, now) == tour.Reply("missed", said)
            begun = Now(tour.go(odd, k))
            assert tour.reply(begun, begun).kind == "ask"


def test_many_heads_are_not_two():
    before = Now(tour.go(CAT, 8))
    four = tour.reply(before, Now(set_heads(before.s, 4)))
    assert four == tour.Reply("missed", messages.TOUR_OTHER_HEADS.format(heads=4))
    two = replace(set_heads(before.s, 2), head=1)
    blind = tour.reply(before, Now(replace(two, **hidden_from(CAT, (2, range(6))))))
    assert which(blind.text, "TOUR_HEADS_BLIND") and blind.kind == "missed"


def test_several_rows_of_X_are_counted():
    before = Now(tour.go(CAT, 1))
    X = CAT.matrices["X"].values + 1
    said = tour.reply(before, Now(before.s.with_matrix("X", Matrix(X))))
    told = which(said.text, "TOUR_ROWS_CHANGED")[1]
    assert (told["rows"], told["queries"]) == ("6", "6")
    X = CAT.matrices["X"].values.copy()
    W = np.zeros((4, 4))
    W[0] = 1
    begun = Now(before.s.with_matrix("W_Q", Matrix(W)))
    X[1, 0] += 1
    X[2, 1] += 1
    said = tour.reply(begun, Now(begun.s.with_matrix("X", Matrix(X))))
    assert which(said.text, "TOUR_ROWS_CHANGED_ONE")[1]["rows"] == "2"


def test_a_change_below_the_digits_is_said_to_be_one():
    before = Now(tour.go(CAT, 1))
    X = CAT.matrices["X"].values + 0.123
    begun = Now(before.s.with_matrix("X", Matrix(X)))
    X = X.copy()
    X[2, 2] += 1e-9
    said = tour.reply(begun, Now(begun.s.with_matrix("X", Matrix(X))))
    assert which(said.text, "TOUR_QUERY_HARDLY")


def test_with_one_number_in_a_key_the_root_changes_nothing():
    one = {name: Matrix(CAT.matrices[name].values[:, :1]) for name in ("W_Q", "W_K")}
    before = Now(tour.go(replace(CAT, matrices=CAT.matrices | one), 4))
    idea = which(tour.idea(before, before), "TOUR_SCALE_SAME")[1]
    assert idea["why"] == messages.TOUR_ONE
    first = Now(replace(CAT, step=4, query=0, mask="causal"))
    assert messages.TOUR_ONE_KEY in tour.idea(first, first)


def test_what_a_step_began_with_ends_with_its_numbers():
    begun = tour.go(CAT, 1)
    X = Matrix(CAT.matrices["X"].values + 1)
    assert tour.remembered(begun, begun.with_matrix("X", X)) is begun
    for other in (
        begun.with_matrix("W_Q", X),
        set_tokens(begun, ("a", "dog", "sat"), [None, None, 2]),
        replace(begun, step=2),
    ):
        assert tour.remembered(begun, other) is other
    second = tour.go(CAT, 2)
    other = second.with_matrix("X", X)
    assert tour.remembered(second, other) is other


def test_a_tour_that_cannot_be_taken_says_why():
    typed = EXAMPLES["random"].build() if "random" in EXAMPLES else None
    typed = typed or next(e for e in (x.build() for x in EXAMPLES.values()) if e.typed_qkv)
    many = set_tokens(CAT, ("cat",) * 14, [0] * 14)
    words = messages.TOUR_NEEDS_WORDS.format
    sentences = {
        messages.TOUR_NEEDS_VECTORS: typed,
        words(fewest=2, most=10, count=1): set_tokens(CAT, ("cat",), [0]),
        words(fewest=2, most=10, count=14): many,
        messages.TOUR_NEEDS_ONE_SENTENCE: set_memory(CAT, True),
        messages.TOUR_NEEDS_EVEN_WIDTHS: EXAMPLES["three-widths"].build(),
        messages.TOUR_NEEDS_SOFTMAX: replace(CAT, softmax=False),
        messages.TOUR_NEEDS_NO_PARTS.format(parts="“Soft cap” and “Sinks”"): replace(
            CAT, softcap=5.0, sinks=(1.0,)
        ),
        "": CAT,
    }
    for sentence, s in sentences.items():
        assert tour.tour_problem(s) == sentence
