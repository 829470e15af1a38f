"""The same capture as a few lines to copy, for models of transformers: nothing of ours is needed.

``attention.Taken.load`` and ``attention.verify`` read what it writes. Its text stands here alone;
docs/real-models.md repeats it, and a test compares the two.
"""

SNIPPET = """\
import json, torch
from safetensors.torch import save_file
from transformers import AttentionInterface

kept, layers, original = {}, {}, AttentionInterface.get_interface


def listening(self, name, default):
    attend = original(self, name, default)  # what the model uses anyway, with its own mask

    def listened(module, query, key, value, attention_mask, **more):
        answer = attend(module, query, key, value, attention_mask, **more)
        n_q, n_k, mask = query.shape[2], key.shape[2], attention_mask
        causal = more.get("is_causal", getattr(module, "is_causal", True))
        if mask is None and name == "sdpa" and causal and n_q > 1:  # its switch
            mask = torch.ones(1, 1, n_q, n_k, dtype=torch.bool).tril()
        there = {"Q": query, "K": key, "V": value, "output": answer[0].transpose(1, 2)}
        there |= {"mask": mask, "bias": more.get("position_bias"), "sinks": more.get("s_aux")}
        at, scale = f"layers.{len(layers)}", more.get("scaling") or query.shape[-1] ** -0.5
        layers[at] = {"module": type(module).__name__, "scale": scale, "implementation": name}
        layers[at] |= {"softcap": more.get("softcap"), "dtype": str(query.dtype)[6:]}
        for what, M in there.items():
            if M is not None:  # bfloat16 fits into float32
                M = M.detach().cpu().clone(memory_format=torch.contiguous_format)
                kept[f"{at}.{what}"] = M if M.dtype == torch.bool else M.float()
        return answer

    return listened


AttentionInterface.get_interface = listening
try:
    with torch.no_grad():
        model(**inputs)
finally:
    AttentionInterface.get_interface = original
about = {"model": model.name_or_path, "tokens": [], "layers": layers}  # or the words
save_file(kept, "run.safetensors", {"attention_capture": json.dumps(about)})
"""
