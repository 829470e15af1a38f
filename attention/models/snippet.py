"""Ten lines that capture a model with this package, and a few that do without it.

SNIPPET is for models of transformers, and needs nothing of ours: ``attention.Taken.load``,
``attention.verify`` and the page Real model read what it writes. The texts stand here alone;
docs/real-models.md repeats both, and a test compares them.
"""

SNIPPET = """\
import json, torch
from functools import partial
from unittest.mock import patch
from safetensors.torch import save_file
from transformers import AttentionInterface

kept, layers, original = {}, {}, AttentionInterface.get_interface


def listened(attend, name, module, query, key, value, attention_mask, **more):
    answer = attend(module, query, key, value, attention_mask, **more)
    n_q, n_k, mask = query.shape[2], key.shape[2], attention_mask
    causal = more.get("is_causal", getattr(module, "is_causal", True))
    if mask is None and name == "sdpa" and causal and n_q > 1:  # its switch
        mask = torch.ones(1, 1, n_q, n_k, dtype=torch.bool).tril()
    there = {"Q": query, "K": key, "V": value, "output": answer[0].transpose(1, 2), "mask": mask}
    there |= {"bias": more.get("position_bias"), "sinks": more.get("s_aux")}
    at, scale = f"layers.{len(layers)}", more.get("scaling") or query.shape[-1] ** -0.5
    layers[at] = {"module": type(module).__name__, "scale": scale, "implementation": name}
    layers[at] |= {"softcap": more.get("softcap"), "dtype": str(query.dtype)[6:]}
    for what, M in there.items():
        if M is not None:  # bfloat16 fits into float32
            M = M.detach().cpu().clone(memory_format=torch.contiguous_format)
            kept[f"{at}.{what}"] = M if M.dtype == torch.bool else M.float()
    return answer


def listening(self, name, default):  # what the model uses anyway, with its own mask
    return partial(listened, original(self, name, default), name)


with torch.no_grad(), patch.object(AttentionInterface, "get_interface", listening):
    model(**inputs)
about = {"model": model.name_or_path, "tokens": [], "layers": layers}  # or the words
save_file(kept, "run.safetensors", {"attention_capture": json.dumps(about)})
"""

LINES = """\
import attention

words = tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
with torch.no_grad(), attention.capture(model, layers=[3], tokens=words) as taken:
    model(**inputs)
print(taken)  # what was recorded, how large it is, and what was not
print(attention.verify(taken))  # every layer and head again in float64, beside the model's own
taken.save("run.safetensors")

trace = taken[3].trace(item=0, head=5)  # from here on like any other trace
attention.figure(trace, tokens=words)  # Plotly, which the extra [app] brings
"""
