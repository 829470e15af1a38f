"""Hints for users who know an argument by another library's name: what it is called here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SEEN = "give allowed=, True where a query may look at a key"
HINTS = {  # another library's name: what to write here
    "mask": SEEN + ", or bias= for numbers to add",
    "attn_mask": SEEN + ", or bias= for numbers to add",
    "attention_mask": SEEN + ", or bias= for numbers to add",
    "key_padding_mask": "give allowed=attention.padding(real), True where a token is real",
    "is_causal": "give allowed=attention.causal(n_q, n_k)",
    "causal": "give allowed=attention.causal(n_q, n_k)",
    "use_causal_mask": "give allowed=attention.causal(n_q, n_k)",
    "attn_bias": "give bias=",
    "alibi_slopes": "give bias=attention.alibi(n_q, n_k, heads)",
    "block_mask": "give mask_mod=, a function (b, h, q, k)",
    "window_size": "give allowed=attention.window(n_q, n_k, seen)",
    "sliding_window": "give allowed=attention.window(n_q, n_k, seen)",
    "s_aux": "give sinks=",
    "logits_soft_cap": "give softcap=",
    "dropout_p": "leave it out, as no weight is dropped here",
    "dropout": "leave it out, as no weight is dropped here",
    "enable_gqa": "repeat the heads of K and V by attention.repeat_heads(K, heads)",
    "num_heads": "give heads= to attention.multi_head_attention",
    "num_kv_heads": "give kv_heads= to attention.multi_head_attention",
    "softmax_scale": "give scale=",
    "need_weights": "leave it out and read .weights of the trace",
    "heads": "give it to attention.multi_head_attention",
    "kv_heads": "give it to attention.multi_head_attention",
    "W_O": "give it to attention.multi_head_attention",
    "memory": "give it to attention.self_attention",
    "query": "give Q=",
    "key": "give K=",
    "value": "give V=",
}
OF_PROJECTIONS = {"enable_gqa": "give kv_heads="}  # where K and V are made of X


def hinting(function: Callable[P, R]) -> Callable[P, R]:
    """Wrap the function to answer another library's argument name with ours.

    >>> hinting(lambda Q, *, allowed=None: Q)([[1.0]], attn_bias=[[0.5]])
    Traceback (most recent call last):
    TypeError: there is no argument attn_bias; give bias=.
    """
    known = inspect.signature(function).parameters
    hints = HINTS if "K" in known else HINTS | OF_PROJECTIONS
    if "pool" in known:
        hints = {name: by_place(hint) for name, hint in hints.items()}
    elif "heads" in known:  # a mask of each item serves all its heads
        hints = hints | {"key_padding_mask": hints["key_padding_mask"].replace(")", ")[:, None]")}

    @wraps(function)
    def hinted(*arguments: P.args, **named: P.kwargs) -> R:
        for name in named:
            if name in hints and name not in known:
                hint, elsewhere, _ = hints[name].partition("= to ")
                if hint.removeprefix("give ") in known:  # it can be given here
                    raise TypeError(f"there is no argument {name}; {hint}=.")
                raise TypeError(f"there is no argument {name}; {hints[name]}.")
        return function(*arguments, **named)

    return hinted


def by_place(hint: str) -> str:
    """Reword a hint for functions that take masks of ``attention.places`` instead of arrays.

    >>> by_place("give bias=attention.alibi(n_q, n_k, heads)")
    'give bias=attention.places.alibi(heads)'
    """
    return re.sub(r"=attention\.(\w+)\((?:n_q, n_k(?:, )?)?", r"=attention.places.\1(", hint)
