"""Ask torch exported to ONNX, and run by ONNX Runtime, what is kept in ``recorded/exports.json``.

In an environment that has torch, onnx, onnxscript and onnxruntime, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_exports.py
"""

import contextlib
import io
import logging
import warnings
from functools import partial

from peers.questions import Way, numbers, save


def exported(
    Q, K, V, mask, causal, opset=None, older=False, groups=1, bias=None, scale=None, given=None
):
    """Call F.scaled_dot_product_attention as an exported module; Q, K, V and the mask are inputs.

    ``older`` is the exporter without dynamo.
    """
    import torch

    mask = numbers(mask, bias) if given is None else given
    options = {"is_causal": causal, "scale": scale} | ({"enable_gqa": True} if groups > 1 else {})

    class Attention(torch.nn.Module):
        def forward(self, q, k, v, attn_mask=None):
            attend = torch.nn.functional.scaled_dot_product_attention
            return attend(q, k, v, attn_mask=attn_mask, **options)

    inputs = tuple(torch.tensor(M) for M in (Q, K, V, mask) if M is not None)
    return run(Attention().eval(), inputs, opset, older), None


def run(module, inputs: tuple, opset: int | None = None, older: bool = False):
    """Export a module and answer what ONNX Runtime makes of the same inputs."""
    import onnxruntime
    import torch

    written, silent = io.BytesIO(), contextlib.redirect_stdout(io.StringIO())
    logging.disable()
    with warnings.catch_warnings(), silent, contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")  # of the older exporter, that it is the older one
        if older:
            torch.onnx.export(module, inputs, written, opset_version=opset, dynamo=False)
        else:
            program = torch.onnx.export(module, inputs, opset_version=opset, dynamo=True)
            written.write(program.model_proto.SerializeToString())
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # an error is raised as well
    session = onnxruntime.InferenceSession(
        written.getvalue(), options, providers=["CPUExecutionProvider"]
    )
    names = [each.name for each in session.get_inputs()]
    found = session.run(None, {n: t.numpy() for n, t in zip(names, inputs, strict=True)})
    return found[0]


def _way(convention: str, **options) -> Way:
    return Way(partial(exported, **options), "torch", convention)


LIBRARIES = {
    "export_18": _way("export_18", opset=18),
    "export_18, the default opset": _way("export_18"),
    "export_23": _way("export_23", opset=23),
    "export_older": _way("export_older", older=True),
}

if __name__ == "__main__":
    save("exports", LIBRARIES, ("torch", "onnxscript", "onnx", "onnxruntime"))
