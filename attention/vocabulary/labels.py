"""Read which input or stage of attention a label means, as people write them above their numbers.

“Attention Weights”, “QK^T / √d_k” and “W_query” are read by one ordered table of patterns; a label
that it does not know, or that speaks of something else, such as “row sums”, means no stage.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 80  # characters; more is a sentence, whose words mean too many stages

_QUERY, _KEY, _VALUE = "(?:q|query|queries)", "(?:k|keys?)", "(?:v|vals?|values?)"
_LETTERS = {"Q": _QUERY, "K": _KEY, "V": _VALUE, "O": "(?:o|out|output)"}
_SCORES = (
    r"(?:scores?|logits?|energy|energies|similarity|similarities|dot products?|qk|qk ?t|q dot k"
    rf"|{_QUERY} (?:@ |x |dot )?{_KEY} transposed|{_QUERY} (?:@|dot) {_KEY})"
)
_WEIGHTS = (
    r"(?:(?:attention|attn)(?: output)? (?:weights?|wts|probs?|probability|probabilities|matrix"
    r"|maps?|patterns?|distributions?|coefficients?)|softmax(?:ed)?|weights|wts|attns?(?= \d|$)"
    r"|probs|probabilities)"
)


def _matrix_of(letter: str, names: str) -> str:
    """Return the pattern of the weights whose product with X is called by these names."""
    joined = rf"w(?: \d+ | ?){names}"
    before = rf"{names} (?:proj |projection )?(?:weights?|w|projection matrix|proj matrix)"
    after = rf"(?:weights?|w|projection)(?: matrix| matrices)? (?:for |of )?(?:the )?{names}"
    linear = rf"to {letter.lower()} weight"
    return rf"\b(?:(?:{joined}|{linear}|{before})\b|{after}$)"


# Ordered: the first pattern that is in the label decides, "" that the label is of no stage.
_RULES = tuple(
    (role, re.compile(pattern))
    for role, pattern in (
        ("output", r"\bweighted (?:sum|average|mean|values?|v)\b"),
        (
            "",
            r"\b(?:sums?|totals?|shapes?|dims?|dimensions?|sizes?|lengths?|count|max|min|mean"
            r"|average|std|var|variance|grads?|gradients?|loss|errors?|diff|difference|entropy"
            r"|ids?|index|indices|argmax|norms?|temperature|factor|seed|bias|biases|dtype"
            r"|d (?:k|q|v|h|model|head|ff)|dk|dv|dmodel|num|number of|n heads)\b",
        ),
        ("output", r"^(?:\w+ )?(?:attention|attn) call$"),
        *(
            (
                letter,
                rf"\b(?:x ?(?:@ |x )?|(?:inputs?|embeddings?) (?:@|x) )w ?{_LETTERS[letter]}\b",
            )
            for letter in "QKV"
        ),
        (
            "output",
            rf"(?:{_WEIGHTS}|^a|{_SCORES}) (?:scaled )?(?:@ |x |and )?{_VALUE}$|^av$|\battended\b",
        ),
        ("weights", r"\b(?:attention|attn) (?:output )?weights\b"),
        *((f"W_{letter}", _matrix_of(letter, names)) for letter, names in _LETTERS.items()),
        ("W_O", r"\b(?:output projection|out proj weight)\b"),
        ("weights", rf"\b(?:{_WEIGHTS}|normali[sz]ed (?:attention )?(?:scores|weights))\b"),
        (
            "memory",
            r"\b(?:memory|encoder (?:outputs?|states?|hidden states?|embeddings?)"
            r"|second (?:sentence|sequence))\b",
        ),
        (
            "masked",
            rf"\bmasked\b|\b{_SCORES}\b.*(?:\bmask(?:ing)?\b|\+ m$)|\bscaled.* \+ m(?:ask)?$",
        ),
        ("mask", r"\b(?:masks?|tril|triu|allowed)\b|^m$"),
        ("output", r"\b(?:outputs?|out|contexts?|contextual|contextuali[sz]ed)\b|^[zo](?: \d+)?$"),
        ("", r"\bscaled dot product attention$"),
        ("scaled", rf"\bscaled\b|\bafter scaling\b|\bscaling {_SCORES}\b"),
        ("scores", rf"\b{_SCORES}\b|^s$"),
        ("weights", r"^a$"),
        ("memory", r"^y$"),
    )
)
_INPUT = re.compile(
    r"\b(?:emb(?:edding)?s?|inputs?|word vectors|token vectors|hidden states?)\b|^x\b"
)
_LETTER = {role: re.compile(rf"\b{_LETTERS[role]}\b") for role in "QKV"}
# What a label of Q, K or V may have beside it; after “for” and “of”, any word.
_BESIDE = re.compile(
    r"(?:\b(?:the|all|each|our|my|and|a|projected|proj|projection|matrix|matrices|vectors?|tensors?"
    r"|arrays?|rows?|columns?|heads?|layers?|states?|split|transposed|self|linear|final|resulting"
    r"|computed|new|cached|cache|raw|rotated|embeddings?|\d+)\b|\s)*(?:\b(?:for|of|from)\b.*)?"
)
_NOT_YET = re.compile(  # “before softmax” is no softmax
    r"\b(?:before|prior to|pre|without|w o|no|not|inputs? (?:to|of|for))"
    r" (?:the |any |applying )?(?:softmax|scaling|scaled|mask(?:ing|ed)?|attention)\b"
)
_ROOT = re.compile(  # ÷ √d_k, / sqrt(64), / 8, * d_k**-0.5
    r"(?<!\d)(?<!\d )(?:[/÷]|\bdivided by\b)\s*[({]?\s*(?:(?:np|math|torch|jnp|tf)\.)?"
    r"(?:(?:sqrt|√|root(?: of)?)\s*[({]{0,2}\s*)?"
    r"(?:d_?\{?\w{0,6}|\d{1,5}(?:\.\d{1,5})?|n|scale\w{0,6})"
    r"(?:\s*\*\*\s*\(?(?:0?\.5|1/2))?(?!\w)"
    r"|[*×·@]\s*(?:scale|d_?\w{0,6}\s*\*\*\s*\(?-\s*0?\.5)(?!\w)",
    re.IGNORECASE,
)
_TRANSPOSED = re.compile(
    r"\.m?T\b|\^\s*\{\s*(?:\\?[Tt](?:op)?|⊤)\s*\}|\^\s*(?:\\?[Tt](?:op)?|⊤)(?![A-Za-z])"
    r"|ᵀ|⊤|\.transpose\([^()]{0,20}\)|′"
    r"|(?<=K)[Tt]\b|(?<=K)'"
)
_LATEX = {"sqrt": "√", "cdot": "@", "times": "@", "top": "^T", "div": "/"}
_COMMAND = re.compile(r"\\([A-Za-z]{1,20})")
_NUMBERED = re.compile(
    r"\s*(?:(?:step|stage|part)\s*\d{0,3}|\d{1,3}(?=\s*[.):\]-]))\s*[.):\]-]\s*", re.I
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=\d)")
_CALL = re.compile(r"\b(attention|attn)\s*\(\s*q[^()]{0,40}\)", re.IGNORECASE)
_REFINED = ("scaled", "masked", "weights")  # what “scores (…)” may be by its brackets


def role_of(name: str) -> str | None:
    """Return the input or stage that a label means, by its name in the package; None for no stage.

    Inputs are ``X``, ``memory``, ``W_Q``, ``W_K``, ``W_V``, ``W_O`` and ``mask``; then come ``Q``,
    ``K``, ``V``, ``scores``, ``scaled``, ``masked``, ``weights`` and ``output``. A label of a
    single row, such as “query 2”, means the same as that of all rows.

    >>> [role_of(name) for name in ("Weight matrix for queries", "QK^T / √d_k", "attn", "key")]
    ['W_Q', 'scaled', 'weights', 'K']
    >>> [role_of(name) for name in ("row sums", "d_k", "key insight", "queries and keys")]
    [None, None, None, None]
    """
    if len(name) > LONGEST:
        return None
    text = unicodedata.normalize("NFKC", _TRANSPOSED.sub(" transposed ", name))
    text = _COMMAND.sub(lambda found: f" {_LATEX.get(found[1], '')} ", text.replace("}{", "} / {"))
    text = _ROOT.sub(" scaled ", _CALL.sub(r"\1 call", text))
    text = _NUMBERED.sub("", text, count=1) if _NUMBERED.match(text) else text
    for side in text.split("="):
        role = _of_side(side)
        if role is not None:
            return role or None
    return None


def _of_side(text: str) -> str | None:
    """Return the role of one side of “=”, "" for something else, None for nothing known."""
    outside, inside = _brackets(text)
    role = _of_words(_words(outside))
    if role is None or role == "scores":
        refined = _of_words(_words(inside)) if inside else None
        return refined if role is None or refined in _REFINED else role
    return role


def _brackets(text: str) -> tuple[str, str]:
    """Return what is outside of all round brackets, and what is inside of any."""
    parts: tuple[list[str], list[str]] = ([], [])
    depth = 0
    for letter in text:
        depth = depth + 1 if letter == "(" else max(0, depth - 1) if letter == ")" else depth
        parts[depth > 0].append(" " if letter in "()" else letter)
        if letter == ")" and not depth:
            parts[0].append(" ")
    return "".join(parts[0]), "".join(parts[1])


def _words(text: str) -> str:
    """Return the words in lower case with one space between them; products as @, sums as +."""
    text = re.sub(r"[@×·⋅∙∗]|(?<!\*)\*(?!\*)", " @ ", _HUMP.sub(" ", text))
    text = re.sub(r"[^\w@+]|_", " ", text.replace("'s", " "))
    return _NOT_YET.sub(" ", " ".join(text.lower().split())).strip()


def _of_words(words: str) -> str | None:
    """Return the role that words mean, "" for something else, None for nothing known."""
    words = " ".join(words.split())
    for role, pattern in _RULES:
        if pattern.search(words):
            return role
    letters = [role for role, pattern in _LETTER.items() if pattern.search(words)]
    if len(letters) > 1:
        return ""
    if letters:
        before, after = _LETTER[letters[0]].split(words, maxsplit=1)
        fits = _BESIDE.fullmatch(before) and _BESIDE.fullmatch(_LETTER[letters[0]].sub("", after))
        return letters[0] if fits else ""
    if _INPUT.search(words):
        return (
            "" if re.search(r"\bposition", words) and not re.search(r"\+|\bwith\b", words) else "X"
        )
    return None
