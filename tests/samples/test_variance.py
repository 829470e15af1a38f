"""Sampling against plain loops and the theory, within what chance allows for a fixed seed."""

import math

import messages
import numpy as np
import pytest

from attention.samples import variance as maths

FOURTH_MOMENT = {
    "normal": 3.0,
    "uniform": 9 / 5,
    "signs": 1.0,
}  # E[x⁴] for variance 1, from textbooks


def five_errors(distribution, d_k, samples):
    """Five standard errors of the sample variance of q · k.

    √((κ − 1) / n) · d_k with κ = 3 + (E[x⁴]² − 3) / d_k.
    """
    kurtosis = 3 + (FOURTH_MOMENT[distribution] ** 2 - 3) / d_k
    return 5 * d_k * math.sqrt(max(kurtosis - 1, 0) / samples) + 5 * d_k / samples


@pytest.mark.parametrize("distribution", maths.DISTRIBUTIONS)
def test_each_distribution_has_mean_0_variance_1_and_its_own_fourth_moment(distribution):
    x = maths.DISTRIBUTIONS[distribution]((200, 1000), np.random.default_rng(5))
    assert x.shape == (200, 1000)
    assert abs(x.mean()) < 5 / math.sqrt(x.size)
    assert abs((x**2).mean() - 1) < 5 * math.sqrt(2 / x.size)
    assert (x**4).mean() == pytest.approx(FOURTH_MOMENT[distribution], rel=0.02)


def test_uniform_stays_within_root_three_and_signs_are_only_minus_one_and_one():
    rng = np.random.default_rng(0)
    assert np.abs(maths.uniform((1000,), rng)).max() <= math.sqrt(3)
    assert set(maths.signs((1000,), rng)) == {-1.0, 1.0}


@pytest.mark.parametrize("distribution", maths.DISTRIBUTIONS)
def test_a_score_is_the_sum_of_the_products_of_its_own_query_and_key(distribution):
    queries, keys, d_k, seed = 3, 2, 5, 11
    found = maths.draw_scores(distribution, d_k, seed, queries, keys)
    q_rng, k_rng = (
        np.random.default_rng([seed, d_k, keys, 0]),
        np.random.default_rng([seed, d_k, keys, 1]),
    )
    draw = maths.DISTRIBUTIONS[distribution]
    for i in range(queries):
        query = [float(draw((), q_rng)) for _ in range(d_k)]
        for j in range(keys):
            key = [float(draw((), k_rng)) for _ in range(d_k)]
            assert found[i, j] == pytest.approx(
                math.fsum(a * b for a, b in zip(query, key, strict=True)), abs=1e-12
            )


@pytest.mark.parametrize("distribution", maths.DISTRIBUTIONS)
@pytest.mark.parametrize("chunk", [1, 7, 100, 10**9])
def test_the_size_of_the_chunks_changes_no_score(distribution, chunk, monkeypatch):
    whole = maths.draw_scores(distribution, 13, 2, 50, 3)
    monkeypatch.setattr(maths, "CHUNK", chunk)
    assert np.array_equal(maths.draw_scores(distribution, 13, 2, 50, 3), whole)


def test_no_more_than_a_chunk_of_numbers_is_drawn_at_a_time(monkeypatch):
    drawn = []

    def watched(shape, rng):
        drawn.append(math.prod(shape))
        return rng.standard_normal(shape)

    monkeypatch.setitem(maths.DISTRIBUTIONS, "normal", watched)
    maths.draw_scores("normal", 1024, 0, 10_000)
    assert max(drawn) <= maths.CHUNK
    assert sum(drawn) == 2 * 1024 * 10_000


def test_the_same_arguments_give_the_same_scores_and_another_seed_gives_others():
    first = maths.draw_scores("normal", 8, 3, 20)
    assert np.array_equal(first, maths.draw_scores("normal", 8, 3, 20))
    assert not np.array_equal(first, maths.draw_scores("normal", 8, 4, 20))


def test_more_queries_leave_the_first_ones_as_they_are():
    assert np.array_equal(
        maths.draw_scores("signs", 9, 1, 100)[:10], maths.draw_scores("signs", 9, 1, 10)
    )


def test_a_higher_ladder_keeps_the_points_that_were_there():
    low, high = maths.measure_all("normal", 16, 0, 100), maths.measure_all("normal", 64, 0, 100)
    assert high[: len(low)] == low
    maths.measure.cache_clear()
    assert maths.measure_all("normal", 64, 0, 100) == high


def test_scores_at_different_d_k_are_independent():
    a, b = (maths.draw_scores("normal", d_k, 0, 10_000)[:, 0] for d_k in (32, 64))
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / math.sqrt(10_000)


@pytest.mark.parametrize(
    ("d_k", "steps"),
    [
        (1, (1,)),
        (2, (1, 2)),
        (3, (1, 2, 3)),
        (64, (1, 2, 4, 8, 16, 32, 64)),
        (100, (1, 2, 4, 8, 16, 32, 64, 100)),
    ],
)
def test_the_ladder_doubles_and_ends_at_the_chosen_d_k(d_k, steps):
    assert maths.ladder(d_k) == steps


@pytest.mark.parametrize("distribution", maths.DISTRIBUTIONS)
@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1])
def test_the_variance_is_d_k_and_1_after_scaling_as_far_as_chance_allows(distribution, seed):
    for point in maths.measure_all(distribution, 256, seed, 4000):
        allowed = five_errors(distribution, point.d_k, 4000)
        assert abs(point.raw.variance - point.d_k) < allowed
        assert abs(point.scaled.variance - 1) < allowed / point.d_k


def test_leaving_the_root_out_would_be_noticed():
    point = maths.measure("normal", 64, 0, 4000)
    assert abs(point.raw.variance - 1) > 10 * five_errors("normal", 64, 4000) / 64
    assert point.raw.variance / point.scaled.variance == pytest.approx(64)


def test_the_margin_is_two_standard_errors_of_the_variance():
    point = maths.measure("normal", 64, 0, 10_000)
    kurtosis = 3 + 6 / 64
    assert point.raw.margin == pytest.approx(2 * 64 * math.sqrt((kurtosis - 1) / 10_000), rel=0.1)
    assert point.scaled.margin == pytest.approx(point.raw.margin / 64)


def test_the_variance_is_over_all_samples_with_ddof_0():
    scores = maths.draw_scores("uniform", 8, 5, 30)[:, 0].tolist()
    mean = math.fsum(scores) / 30
    expected = math.fsum((s - mean) ** 2 for s in scores) / 30
    assert maths.measure("uniform", 8, 5, 30).raw.variance == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("scaled", [False, True])
def test_sharpness_is_the_mean_of_rows_worked_out_by_hand(scaled):
    d_k, samples = 16, 12
    scores = maths.draw_scores("normal", d_k, 4, samples, maths.N_KEYS)
    tops, entropies, slopes = [], [], []
    for row in scores.tolist():
        row = [s / math.sqrt(d_k) for s in row] if scaled else row
        exponentials = [math.exp(s) for s in row]
        weights = [e / math.fsum(exponentials) for e in exponentials]
        tops.append(max(weights))
        entropies.append(-math.fsum(w * math.log(w) for w in weights))
        slopes.append(math.fsum(w * (1 - w) for w in weights))
    point = maths.measure("normal", d_k, 4, samples)
    found = point.scaled if scaled else point.raw
    for value, rows in ((found.largest, tops), (found.entropy, entropies), (found.slope, slopes)):
        assert value == pytest.approx(math.fsum(rows) / samples, rel=1e-9)


def test_without_the_scale_rows_sharpen_with_d_k_and_with_it_they_do_not():
    one, many = maths.measure("normal", 1, 0, 1000), maths.measure("normal", 1024, 0, 1000)
    assert one.raw == one.scaled
    assert many.raw.largest > 0.9 and many.raw.entropy < 0.3 and many.raw.slope < 0.2
    assert many.scaled.largest < 0.3 and many.scaled.entropy > 2.2 and many.scaled.slope > 0.8


def test_at_most_the_given_number_of_rows_go_through_the_softmax():
    assert maths.draw_rows("signs", 4, 0, 10)[0].shape == (10, maths.N_KEYS)
    assert maths.draw_rows("signs", 4, 0, 10_000)[0].shape == (maths.MOST_ROWS, maths.N_KEYS)


def test_the_middle_row_is_a_sampled_one_with_as_many_sharper_as_flatter():
    raw, scaled = maths.draw_rows("normal", 64, 7, 101)
    row = maths.middle_row("normal", 64, 7, 101)
    place = next(i for i in range(101) if np.array_equal(raw[i], row[0]))
    assert np.array_equal(scaled[place], row[1])
    assert (
        sum(r.max() > row[0].max() for r in raw) == sum(r.max() < row[0].max() for r in raw) == 50
    )
    assert row.sum(axis=1) == pytest.approx([1, 1])


@pytest.mark.parametrize("distribution", maths.DISTRIBUTIONS)
@pytest.mark.parametrize("d_k", [1, 2, 63, 64, 1000])
def test_a_histogram_counts_every_score_once(distribution, d_k):
    scores = maths.draw_scores(distribution, d_k, 0, 500)
    counts, edges = maths.histogram(scores)
    assert counts.sum() == 500 and len(edges) == len(counts) + 1
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        assert count == sum(low <= s < high for s in scores[:, 0])


@pytest.mark.parametrize("d_k", [3, 64, 500, 1000])
def test_every_bin_of_whole_scores_has_room_for_as_many_of_them(d_k):
    _, edges = maths.histogram(maths.draw_scores("signs", d_k, 0, 1000))
    possible = np.arange(-d_k, d_k + 1, 2)
    rooms = [
        sum((low < possible) & (possible < high))
        for low, high in zip(edges, edges[1:], strict=False)
    ]
    inside = [
        room
        for room, low, high in zip(rooms, edges, edges[1:], strict=False)
        if -d_k <= low and high <= d_k
    ]
    assert not np.isin(edges, possible).any()
    assert len(set(inside)) <= 1


def test_the_histogram_of_equal_scores_is_one_bin():
    counts, edges = maths.histogram(np.full(10, 0.3))
    assert counts.tolist() == [10] and edges[0] <= 0.3 < edges[1]


def test_what_is_kept_of_the_samples_is_right_and_cannot_be_written_over():
    asked = ("uniform", 5, 3, 200)
    counts, edges = maths.sampled_histogram(*asked)
    wanted = maths.histogram(maths.draw_scores(*asked))
    assert np.array_equal(counts, wanted[0]) and np.array_equal(edges, wanted[1])
    for kept in (counts, edges, maths.middle_row(*asked)):
        with pytest.raises(ValueError, match="read-only"):
            kept[0] = 0


def test_the_prediction_with_means_is_the_variance_of_independent_entries():
    rng = np.random.default_rng(0)
    Q, K = rng.normal(2, 3, (4000, 6)), rng.normal(-1, 0.5, (4000, 6))
    found = maths.predict(Q, K)
    assert found.centred == pytest.approx(6 * 9 * 0.25, rel=0.05)
    assert found.full == pytest.approx(6 * (9 * 0.25 + 4 * 0.25 + 1 * 9), rel=0.05)
    assert (Q * K).sum(axis=1).var() == pytest.approx(found.full, rel=0.1)
    assert not found.applies


def test_the_short_rule_applies_where_the_means_are_0():
    found = maths.predict([[1.0, -1.0], [2.0, -2.0]], [[3.0, -3.0]])
    assert found.centred == found.full == 2 * 2.5 * 9
    assert found.applies


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("gauss", 4, 0, 5),
            messages.UNKNOWN_DISTRIBUTION.format(name="'gauss'", known="normal, uniform, signs"),
        ),
        (("normal", 0, 0, 5), messages.D_K_EXPECTED.format(d_k=0)),
        (
            ("normal", 4, 0, 0),
            messages.INTEGER_EXPECTED.format(name="queries", given=0, least="1 on"),
        ),
        (
            ("normal", 4, 0, 5, 0),
            messages.INTEGER_EXPECTED.format(name="keys", given=0, least="1 on"),
        ),
    ],
)
def test_arguments_that_cannot_be_sampled_are_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(ValueError) as refusal:
        maths.draw_scores(*arguments)
    assert str(refusal.value) == sentence


def test_a_ladder_to_zero_is_refused():
    with pytest.raises(ValueError, match="^" + messages.D_K_EXPECTED.format(d_k=0) + "$"):
        maths.ladder(0)
