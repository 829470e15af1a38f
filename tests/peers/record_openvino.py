"""Ask OpenVINO what is kept in ``recorded/openvino.json``.

In an environment that has openvino and torch, from the top of the repository::

    PYTHONPATH=tests python tests/peers/record_openvino.py
"""

import warnings

from peers.questions import Way, numbers, save


def operator(Q, K, V, mask, causal, groups=1, bias=None, scale=None, given=None):
    """Opset 13's scaled_dot_product_attention on the CPU, a graph of one node."""
    import openvino
    from openvino import opset13

    mask = numbers(mask, bias) if given is None else given
    arrays = [M for M in (Q, K, V, mask) if M is not None]
    inputs = [opset13.parameter(M.shape, M.dtype) for M in arrays]
    options = {} if scale is None else {"scale": opset13.constant(scale, Q.dtype)}
    node = opset13.scaled_dot_product_attention(*inputs, causal=causal, **options)
    compiled = openvino.compile_model(openvino.Model([node], inputs), "CPU")
    return compiled(arrays)[0], None


def from_torch(Q, K, V, mask, causal, groups=1, bias=None, scale=None, given=None):
    """F.scaled_dot_product_attention as a module, converted from torch."""
    import openvino
    import torch

    mask = numbers(mask, bias) if given is None else given
    options = {"is_causal": causal, "scale": scale} | ({"enable_gqa": True} if groups > 1 else {})

    class Attention(torch.nn.Module):
        def forward(self, q, k, v, attn_mask=None):
            attend = torch.nn.functional.scaled_dot_product_attention
            return attend(q, k, v, attn_mask=attn_mask, **options)

    arrays = [M for M in (Q, K, V, mask) if M is not None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of tracing
        example = tuple(map(torch.tensor, arrays))
        model = openvino.convert_model(Attention().eval(), example_input=example)
    return openvino.compile_model(model, "CPU")(arrays)[0], None


LIBRARIES = {
    "openvino": Way(operator, "openvino", "openvino"),
    "openvino_from_torch": Way(from_torch, "openvino", "openvino_from_torch"),
}

if __name__ == "__main__":
    save("openvino", LIBRARIES, ("openvino", "torch"))
