"""Why √d_k: how far the scores of sampled queries and keys spread, and what softmax makes of it."""

from functools import partial
from typing import Any

import streamlit as st

from attention.arrays.statistics import variance
from attention.exports import variance as exports
from attention.figures.plotly import variance as figures
from attention.figures.plotly.charts import Chart, stacked
from attention.html import lesson as lessons
from attention.pages.components import charts, tables
from attention.pages.frame import pieces, state
from attention.pages.panels import paper
from attention.pages.panels.controls import field
from attention.samples import variance as maths
from attention.session.state.run import run, view
from attention.session.state.settings import Settings
from attention.session.teach.guesses import GUESSED_D_K, Guess, guesses
from attention.vocabulary.numbers import number
from attention.vocabulary.stages import STAGES

D_KS = [1, 2, 3, *(m * 2**p for p in range(8) for m in (4, 5, 6, 7)), 1024]
HEADS = {
    "d_k": "dₖ",
    "margin": "± (2 standard errors)",
    "largest": "largest weight",
    "entropy": "entropy (nats)",
    "slope": "Σ w(1 − w)",
}
SAMPLES = [10, 30, 100, 300, 1000, 3000, 10_000]


def steps(s: Settings, label: str, name: str, options: list[int], **looks: Any) -> None:
    """A slider over chosen steps; a value between them, from a link, becomes a step of its own."""
    value = getattr(s, name)
    options = sorted({*options, value})
    state.setting_control(
        st.select_slider, label, name, value, field(name), options=options, **looks
    )


def the_controls(s: Settings) -> None:
    first, second, third, fourth = st.columns(
        [3, 3, 2.4, 1.6], gap="medium", vertical_alignment="bottom"
    )
    with first:
        steps(s, "Largest dₖ", "sample_d_k", D_KS)
    with second:
        steps(
            s,
            "Samples at each dₖ",
            "samples",
            SAMPLES,
            format_func="{:,}".format,
        )
    with third:
        state.setting_control(
            st.segmented_control,
            "Distribution",
            "distribution",
            s.distribution,
            field("distribution"),
            options=list(maths.DISTRIBUTIONS),
            format_func=lambda name: maths.DISTRIBUTIONS[name].label,
            required=True,
            width="stretch",
            help="Of the entries of q and k; each has mean 0 and variance 1.",
        )
    with fourth:
        state.setting_control(
            st.number_input,
            "Seed",
            "sample_seed",
            s.sample_seed,
            field("sample_seed"),
            min_value=0,
            max_value=2**32 - 1,
            step=1,
        )


def sample(s: Settings) -> tuple[str, int, int, int]:
    """Return what is sampled, as the functions of ``maths`` take it."""
    return s.distribution, s.sample_d_k, s.sample_seed, s.samples


def the_spread(s: Settings, points: tuple[maths.Point, ...]) -> list[Chart]:
    st.subheader("Longer vectors, wider scores", anchor=False)
    st.html(
        "<p class='notice'>Let the entries of q and k be independent, with mean 0 and variance 1."
        " Then each product q<sub>i</sub> k<sub>i</sub> also has mean 0 and variance 1, and"
        " variances of independent terms add up: <b style='white-space: nowrap'>Var(q · k) ="
        " d<sub>k</sub></b>."
        " Dividing by √d<sub>k</sub> divides the variance by d<sub>k</sub>:"
        " <b style='white-space: nowrap'>Var(q · k / √d<sub>k</sub>) = 1</b>, however"
        " long the vectors.</p>"
    )
    spread = figures.spread_panes(points, *maths.sampled_histogram(*sample(s)))
    charts.show(spread, across=2)
    return spread


def the_softmax(s: Settings, points: tuple[maths.Point, ...]) -> list[Chart]:
    st.subheader("What softmax does with the scores", anchor=False)
    st.html(
        "<p class='notice'>Softmax turns differences into ratios: a score 8 above another gets"
        " e<sup>8</sup> ≈ 3,000 times its weight. Unscaled, differences grow with √d<sub>k</sub>"
        " until one key gets nearly all the weight. There the softmax is flat: its derivative"
        " w(1 − w) is near 0 both at w&nbsp;=&nbsp;1 and at w&nbsp;=&nbsp;0, and learning"
        " stalls.</p>"
    )
    row, *measures = figures.softmax_panes(points, maths.middle_row(*sample(s)))
    charts.show([row, stacked("sharpness", "How sharp the rows are", measures)], across=2)
    return [row, *measures]


def the_matrices(s: Settings) -> list[Chart]:
    st.subheader("The matrices on Explore", anchor=False)
    pieces.note(
        "Population variance, the mean squared distance from the mean (NumPy’s ddof=0), over every"
        " entry; change the matrices on Explore and come back."
    )
    if s.weights_alone:
        pieces.note("Explore shows finished weights alone, without the Q and K of their scores.")
        return []
    on_explore = view(s, run(s))
    Q, K = on_explore.source("Q"), on_explore.source("K")  # normed and rotated, it may be
    shown = {name: on_explore.stages[name] for name in (Q, K, "scores", "scaled")}
    stages = {STAGES[name].heading: matrix for name, matrix in shown.items()}
    rule = maths.predict(shown[Q], shown[K])
    means = {name: float(matrix.mean()) for name, matrix in stages.items()}
    measured = {name: variance(matrix) for name, matrix in stages.items()}
    predicted = {"scores": rule.centred, "scaled": rule.centred * on_explore.scale**2}
    both = STAGES[Q].heading, STAGES[K].heading
    sentence = figures.explore_sentence(
        s.d_k,
        measured["scores"],
        rule,
        (means[both[0]], means[both[1]]),
        shown["scores"].size,
        both,
    )
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        explored = figures.explored_pane(measured, predicted, sentence)
        charts.show([explored])
    with right:
        table = exports.explored_table(means, measured, predicted)
        tables.show(table, "explored_table", partial(number, digits=max(s.digits, 2)))
    return [explored]


def the_numbers(s: Settings, points: tuple[maths.Point, ...]) -> None:
    numbers = st.expander("Numbers in these charts", key="points", on_change="rerun")
    if not numbers.open:
        return
    with numbers:
        table = exports.points_table(points).rename(columns=HEADS)
        tables.show(table, "points_table", partial(number, digits=4), hide_index=True)
        st.caption(
            f"Entries of q and k: {maths.DISTRIBUTIONS[s.distribution].label}, seed"
            f" {s.sample_seed}. Each variance (NumPy’s ddof=0) is that of {s.samples:,} scores; the"
            f" weights are those of {min(s.samples, maths.MOST_ROWS)} rows of {maths.N_KEYS} keys."
        )
        st.download_button(
            "CSV",
            lambda: exports.to_csv(points, exports.what_was_drawn(s)),
            "attention_variance.csv",
            "text/csv",
            on_click="ignore",
            key="variance_csv",
        )


def guessed(k: int, asked: Guess) -> bool:
    """Whether one has guessed; then also what is right."""
    with st.container(key=f"lesson_why_{k}"):
        choice = state.page_control(
            st.pills, asked.question, f"why_guess_{k}", None, options=list(asked.options)
        )
        if choice is None:
            return False
        st.html(lessons.answer(choice in asked.right, asked.answer))
        return True


def sections(s: Settings) -> None:
    """All of the page; where one guesses first, up to the question that is open."""
    questions: tuple[Guess | None, ...] = (None, None)
    if state.page_control(st.toggle, "Guess first", "guess_first", False):
        point = maths.measure(s.distribution, GUESSED_D_K, s.sample_seed, s.samples)
        questions = guesses(point)
    points, drawn = maths.measure_all(*sample(s)), list[Chart]()
    for k, (asked, show) in enumerate(zip(questions, (the_spread, the_softmax), strict=True)):
        if asked and not guessed(k, asked):
            return
        drawn += show(s, points)
    drawn += the_matrices(s)
    the_numbers(s, points)
    paper.offer(s, drawn, "attention_why", exports.what_was_drawn(s))


def page(s: Settings) -> None:
    pieces.opening(
        "Why divide by √d<sub>k</sub>?",
        "A score q · k adds up d<sub>k</sub> products. Sample many queries and keys to see how far"
        " their scores spread, and what softmax does with them.",
    )
    pieces.sentences(*state.sentences())
    the_controls(s)
    sections(s)
    pieces.address()
    state.end()


page(state.begin())
