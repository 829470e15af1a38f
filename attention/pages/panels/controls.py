"""The rail of settings: every control shows one setting and changes that one alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from attention.core.masks import MASK_LABELS
from attention.explain.view import distinct
from attention.limits import MAX_DIMENSION
from attention.pages.frame import state
from attention.pages.panels import real_layers
from attention.session.edit import changes
from attention.session.state import settings as inputs
from attention.session.state.examples import EXAMPLES
from attention.session.state.run import run
from attention.session.state.settings import DRAWN, FILLS, TRUE_MASK, Settings
from attention.vocabulary.notation import in_html

SCALES = {"sqrt": "1/√dₖ", "none": "none (× 1)", "number": "a number"}
MASKS = MASK_LABELS | {DRAWN: "custom (draw it)"}
MOST_STEPS = 64  # of a slider, unless larger numbers were brought


class Switch(NamedTuple):
    """A part of the attention that is there or not."""

    label: str
    adds: str
    is_on: Callable[[Settings], bool]
    turn: Callable[[Settings, bool], Settings]


SWITCHES = {
    "softmax": Switch(
        "softmax",
        "turns each row of scores into weights that sum to 1",
        lambda s: s.softmax is True,
        lambda s, on: replace(s, softmax=on),
    ),
    "cross": Switch(
        "second sentence",
        "is cross-attention: keys and values come from another sentence",
        lambda s: bool(s.memory_tokens),
        changes.set_memory,
    ),
    "output_weights": Switch(
        "output projection",
        "mixes the outputs of all heads by one more matrix, W$_\\mathsf{O}$",
        lambda s: "W_O" in s.matrices,
        changes.set_output_weights,
    ),
    "context": Switch(
        "sum of outputs",
        "adds up the rows of the output",
        lambda s: s.context,
        lambda s, on: replace(s, context=on),
    ),
    "typed_qkv": Switch(
        "enter Q, K, V directly",
        "starts without embeddings and weights; every stage keeps its numbers",
        lambda s: s.typed_qkv,
        lambda s, on: changes.start_from(s, on, run(s)),
    ),
}
PARTS = "; ".join(f"**{switch.label}** {switch.adds}" for switch in SWITCHES.values()) + "."
SIZES = ("d_model", "d_k", "d_v")


def rail(s: Settings, notice: str, widened: state.Widening = state.as_it_is) -> None:
    """Draw all controls in the sidebar, under their headings; ``notice`` is HTML on the example.

    The choice of an example is ``widened`` where it changes more than these settings.
    """
    with st.sidebar:
        _example(s, widened)
        if notice:
            kind = " of-example" if notice.startswith("<b>") else ""
            st.html(f"<p class='notice{kind}'>{notice}</p>")
        for heading, controls in GROUPS.items() if not s.weights_alone else (("Options", _view),):
            st.html(f"<h2 class='rail'>{heading}</h2>")
            controls(s)
        if not s.weights_alone:
            real_layers.panel(s)


def tour_rail(s: Settings) -> None:
    """Draw the controls that the tour asks for: without the others all are in sight on a laptop."""
    with st.sidebar:
        _example(s)
        st.html("<h2 class='rail'>Attention</h2>")
        _scale(s)
        _mask(s)
        _heads(s)
        _view(s)


def _example(s: Settings, widened: state.Widening = state.as_it_is) -> None:
    """The list of examples, each with its sentence, behind the title of the one that is shown."""
    st.html("<h2 class='rail'>Example</h2>")
    # named by the example: so the list closes when another is chosen. Buttons, for what is closed
    # hears of nothing: a choice kept by the browser would be sent again after Back
    listed = st.popover(
        EXAMPLES[s.example].title,
        key=f"examples_{s.example}",
        on_change="rerun",
        width="stretch",
    )
    with listed, st.container(key="set_example", gap=None):
        st.caption("An example replaces your numbers; the browser’s Back button restores them.")
        # made once it is open: it is most of what a move would send
        for name, example in EXAMPLES.items() if listed.open else ():
            state.button(
                example.title,
                f"example_{name}",
                state.change,
                (widened(partial(state.example, name=name)),),
                type="tertiary",
            )
            st.caption(example.sentence)
    begun = widened(lambda settings: state.example(settings, settings.example))
    state.button("Reset", "reset", state.change, (begun,), width="stretch")


Apply = Callable[[Settings, Any], Settings]


def field(name: str) -> Apply:
    """A control's move goes into the setting of that name."""

    def moved_to(settings: Settings, value: Any) -> Settings:
        return replace(settings, **{name: value})

    return moved_to


def _choice(
    label: str,
    name: str,
    value: Any,
    labels: dict[Any, str],
    apply: Apply | None = None,
    **options: Any,
) -> None:
    state.setting_control(
        st.selectbox,
        label,
        name,
        value,
        apply or field(name),
        options=list(labels),
        format_func=labels.__getitem__,
        **options,
    )


def _view(s: Settings) -> None:
    if s.heads > 1:
        state.setting_control(
            st.segmented_control,
            "Head",
            "head",
            s.head,
            lambda s, h: replace(s, head=s.head if h is None else h),
            options=range(s.heads),
            format_func=str,
        )
    if s.batch > 1:
        state.setting_control(
            st.number_input,
            "Batch item",
            "item",
            s.item,
            lambda s, i: replace(s, item=i, cell=None),
            min_value=0,
            max_value=s.batch - 1,
            step=1,
        )
    state.setting_control(
        st.slider,
        "Digits",
        "digits",
        s.digits,
        field("digits"),
        min_value=0,
        max_value=10,
    )


def _attention(s: Settings) -> None:
    _scale(s)
    _mask(s)
    keys = distinct(s.key_tokens)
    state.setting_control(
        st.multiselect,
        "Padding tokens",
        "padding",
        list(s.padding),
        lambda s, chosen: replace(s, padding=tuple(sorted(chosen))),
        options=range(len(keys)),
        format_func=lambda k: keys[min(k, len(keys) - 1)],
        placeholder="none",
        help="Padding fills up a short sentence; no query looks at it.",
    )
    if s.fill != TRUE_MASK or not inputs.allowed(s).all():
        _choice(
            "Masked scores become",
            "fill",
            s.fill,
            FILLS,
        )


def _scale(s: Settings) -> None:
    kind = "sqrt" if s.scale is None else "none" if s.scale == 1 else "number"
    _choice(
        "Scale",
        "scale_kind",
        kind,
        SCALES,
        _set_scale,
        help="Scores are multiplied by it. 1/√dₖ keeps their spread the same for every dₖ.",
    )
    if kind == "number":
        state.setting_control(
            st.number_input,
            "Scores are multiplied by",
            "scale",
            s.scale,
            field("scale"),
            min_value=1e-6,
            max_value=1e6,
            step=0.05,
            format="%.6g",
        )


def _mask(s: Settings) -> None:
    _choice(
        "Mask",
        "mask",
        s.mask,
        MASKS,
        changes.set_mask,
        help="Which keys a query may look at; a hidden key gets weight 0. “Draw mask”, above masked"
        " on the board, hides single cells.",
    )


def _parts(s: Settings) -> None:
    on = [name for name, switch in SWITCHES.items() if switch.is_on(s)]
    state.setting_control(
        st.pills,
        "Parts of the computation",
        "parts",
        on,
        _switch,
        options=list(SWITCHES),
        selection_mode="multi",
        format_func=lambda name: SWITCHES[name].label,
        help=PARTS,
    )


def _options(s: Settings) -> None:
    _parts(s)
    _view(s)


def _switch(s: Settings, on: list[str]) -> Settings:
    for name, switch in SWITCHES.items():
        if switch.is_on(s) != (name in on):
            s = switch.turn(s, name in on)
    return s


def _set_scale(s: Settings, kind: str) -> Settings:
    to_begin_with = s.d_k**-0.5 if s.d_k > 1 else 0.5
    return replace(s, scale={"sqrt": None, "none": 1.0, "number": to_begin_with}[kind])


def _set_size(name: str) -> Apply:
    def moved_to(settings: Settings, size: int) -> Settings:
        return changes.set_dimension(settings, name, size)

    return moved_to


def _sizes(s: Settings) -> None:
    for name in SIZES:
        size = getattr(s, name)
        if size is None:
            st.html(f"<p class='no-size'>No {in_html(name)}: Q, K and V were entered directly.</p>")
        else:
            _size(name, size)
    _heads(s)


def _heads(s: Settings) -> None:
    _choice(
        "Heads",
        "heads",
        s.heads,
        {h: str(h) for h in s.possible_heads},
        changes.set_heads,
        help="The columns are split evenly among the heads, so their number divides dₖ and dᵥ.",
    )


def _size(name: str, size: int) -> None:
    """A slider, and next to it a field for the number."""
    most = max(MOST_STEPS, size)
    slider, entry = st.columns([3, 2], vertical_alignment="bottom", gap="small")
    with slider:
        st.html(f"<p class='size' aria-hidden='true'>{in_html(name)}</p>")
        state.setting_control(
            st.slider,
            name,
            name,
            size,
            _set_size(name),
            min_value=1,
            max_value=most,
            label_visibility="collapsed",
        )
    with entry:
        state.setting_control(
            st.number_input,
            name,
            f"{name}_number",
            size,
            _set_size(name),
            min_value=1,
            max_value=MAX_DIMENSION,
            step=1,
            label_visibility="collapsed",
        )


GROUPS: dict[str, Callable[[Settings], None]] = {
    "Attention": _attention,
    "Sizes": _sizes,
    "Options": _options,
}
