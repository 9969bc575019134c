"""What a causal class does with hidden states behind its decoder."""

import copy

import torch

from . import own, sources, variants, vision
from .blocks_data import Sizes, Unrecordable
from .masks import make_masks
from .model import decoder_of, names_of
from .trace import Trace

# The key under which logits go through tanh, in classes that go by one.
SOFTCAP = "final_logit_softcapping"
# Operators that a linear layer may run.
MATMULS = ("linear", "mm", "addmm")


def softcaps(model, config, built):
    """Whether logits go through tanh, or the key that decides it; `built`: the class's model of another config."""
    does = head_of(model)["softcaps"]
    if not variants.has(*variants.part_of(config, SOFTCAP)):
        return does
    try:
        other = head_of(built(variants.with_value(config, SOFTCAP, None if does else 30.0)))["softcaps"]
    except Exception:
        return does
    return does if other == does else SOFTCAP


def weight_of(model, config):
    """The shape of the head's weight, where it is not the token embedding's and not what a reader takes it to be: the vocabulary by the
    width of the residual stream (RemBERT's head reads a projection)."""
    head, table = weights_of(model)
    if head is None or table is None or head is table or head.dim() != 2:
        return None
    rows, width = table.shape
    said = next((value for key in ("hidden_size", "n_embd", "d_model") if isinstance(value := variants.value_of(config, key), int)), width)
    vocabulary = variants.value_of(config, "vocab_size")
    outputs = vocabulary if isinstance(vocabulary, int) and 1 <= vocabulary < rows else rows
    return None if tuple(head.shape) == (outputs, said) else Sizes(head.shape)


def weights_of(model):
    """Weights of the head and of the token embedding."""
    try:
        return [getattr(one, "weight", None) for one in (model.get_output_embeddings(), model.get_input_embeddings())]
    except (AttributeError, NotImplementedError):
        return [None, None]


def ties(config, built):
    """Whether the head is the token embedding or is not whatever the config says of it; nothing where it decides."""
    said = []
    for value in (True, False):
        changed = copy.deepcopy(config)
        changed.tie_word_embeddings = value
        try:
            head, table = weights_of(built(changed))
        except Exception:
            return {}
        if head is None or table is None:
            return {}
        said.append(head is table)
    return {"ties": said[0]} if said[0] == said[1] else {}


def head_of(model):
    """The head's name, its bias, and what happens to the logits."""
    if own.of(model):
        return own.of(model).said_of_head()
    decoder = decoder_of(model)
    head = model.get_output_embeddings()
    if head is None:
        return {"name": "lm_head", "bias": False, "softcaps": False, "scales": False}
    name = next((n for n, module in model.named_modules() if module is head), "lm_head")
    said = {**behind_decoder(model, decoder, head, name), **gain_of(head)}
    if "gain" in said:
        # What is multiplied there is this.
        said["scales"] = False
    if type(model).__name__.endswith("ForMaskedLM"):
        said |= {**without_layers(model.config), **bias_owner(model, head, name)}
    if is_wide(model, head):
        said["wide"] = True
    steps = loss_steps(model, head)
    # What every class does that leaves its loss to transformers (loss/loss_utils.py `ForCausalLMLoss`): labels are shifted, not logits.
    if steps not in (None, ["float"]):
        said["loss"] = steps
    if upcasts_masked(model, head):
        said["upcasts"] = True
    return said


def gain_of(head):
    """The parameter of a head beside its weight and bias: a factor for each logit (modeling_dory.py `DoryLMHead`)."""
    more = [(name, one) for name, one in head.named_parameters(recurse=False) if name not in ("weight", "bias")]
    if not more:
        return {}
    weight = getattr(head, "weight", None)
    if len(more) > 1 or weight is None or tuple(more[0][1].shape) != tuple(weight.shape[:1]):
        raise Unrecordable(f"the head has parameters whose part in the logits is not known: {', '.join(name for name, _ in more)}")
    return {"gain": more[0][0]}


def loss_steps(model, head):
    """What a decoder's class makes of its logits before cross-entropy reads them: an fp32 copy ("float"), all positions but the last
    ("shift"), a copy in order ("copy"). None of a class that takes another loss."""
    if sources.has_source(model.config) or vision.has_images(model.config) or type(model).__name__.endswith("ForMaskedLM"):
        return None
    try:
        trace, first = traced_behind(model, head, ("labels",), batch=2)
    except Exception:
        return None
    ops = trace.ops[first:]
    last = max((i for i, op in enumerate(ops) if op.name in MATMULS), default=-1)
    # The head has run, or its matmul is the last operator before.
    read = (ops[last] if last >= 0 else trace.ops[first - 1]).outputs[0]
    # What a head in fp32 gives needs no copy to be that.
    steps = ["float"] if trace.values[read].dtype == torch.float32 else []
    for op in ops[last + 1 :]:
        if not op.inputs or op.inputs[0] != read:
            continue
        before, after = trace.values[read], trace.values[op.outputs[0]]
        if op.name == "_log_softmax":
            return steps
        if op.name == "_to_copy" and after.dtype == torch.float32 != before.dtype:
            steps.append("float")
        elif op.name == "slice.Tensor" and numel(after.shape) < numel(before.shape):
            steps.append("shift")
        elif op.name == "clone":
            steps.append("copy")
        elif numel(after.shape) != numel(before.shape) or after.dtype != before.dtype:
            return None
        read = op.outputs[0]
    return None


def numel(shape):
    return torch.Size(shape).numel()


def is_wide(model, head):
    """Whether the head stays in fp32 in a model of another dtype."""
    return model.dtype != torch.float32 and getattr(getattr(head, "weight", None), "dtype", None) == torch.float32


def behind_decoder(model, decoder, head, name):
    """What runs behind the decoder."""
    if decoder is model:
        said = {"name": name, "bias": getattr(head, "bias", None) is not None, "softcaps": False, "scales": False}
        if sources.has_source(model.config) and "add.Tensor" in run_behind(model, head, ("decoder_input_ids",)):
            # A bias that lies in a buffer of the model's own.
            said["adds"] = True
        return said
    ran = []
    trace = Trace({**names_of(decoder), **make_masks(1, 16)})
    handle = decoder.register_forward_hook(lambda *_: ran.append(len(trace.ops)))
    try:
        with torch.device("meta"), torch.no_grad():
            ids = torch.zeros(1, 16, dtype=torch.long)
            trace.names[id(ids)] = ("input", "input_ids")
            with trace:
                model(input_ids=ids, use_cache=False)
    finally:
        handle.remove()
        trace.close()
    ops = trace.ops[ran[-1] if ran else 0 :]
    behind = [op.name for op in ops]
    scales = any(n.startswith(("mul.", "div.")) for n in behind) and "tanh" not in behind
    said = {"name": name, "bias": getattr(head, "bias", None) is not None, "softcaps": "tanh" in behind, "scales": scales}
    # The model gives its logits in fp32 (modeling_mamba.py `MambaForCausalLM.forward`).
    last = max((i for i, name in enumerate(behind) if name in MATMULS), default=len(ops))
    of_logits = ops[last:]
    widens = any(op.name == "_to_copy" and trace.values[op.outputs[0]].dtype == torch.float32 for op in of_logits)
    return {**said, "upcasts": True} if widens or upcasts_masked(model, head) else said


def without_layers(config):
    """What an encoder's other classes have in the place of the layers before its head: whether the class without a head runs a pooler, and
    what classification reads: that, or a dense layer of its own. Nothing where it reads those layers (ModernBERT)."""
    import transformers

    with torch.device("meta"):
        plain = transformers.AutoModel.from_config(config)
        classifier = transformers.AutoModelForSequenceClassification.from_config(config)
    has_pooler = lambda model: any(name.startswith("pooler.") for name, _ in model.named_parameters())
    base = {id(parameter) for parameter in classifier.base_model.parameters()}
    dense = [name for name, one in classifier.named_parameters() if id(one) not in base and one.dim() == 2]
    said = {"pooler": True} if has_pooler(plain) else {}
    if has_pooler(classifier.base_model):
        return {**said, "classifies": "pooler"}
    # The head of ModernBERT's is another module than its classifier, under the name that it has in the other class.
    is_own = len(dense) == 2 and not any(name.startswith("head.") for name in dense)
    return {**said, "classifies": "dense"} if is_own else said


def bias_owner(model, head, name):
    """The module whose parameter the head's bias is where that is another's (modeling_bert.py `BertLMPredictionHead`)."""
    names = (full for full, one in model.named_parameters() if one is getattr(head, "bias", None))
    owner = next(names, f"{name}.bias").removesuffix(".bias")
    return {} if owner == name else {"bias_of": owner}


def upcasts_masked(model, head):
    """Whether the loss of masked tokens is taken over an fp32 copy of the logits (loss/loss_utils.py `ForMaskedLMLoss`)."""
    return type(model).__name__.endswith("ForMaskedLM") and "_to_copy" in run_behind(model, head, ("labels",))


def run_behind(model, head, names):
    """Operators behind the head; `names`: what the model takes beside token ids."""
    trace, first = traced_behind(model, head, names)
    return [op.name for op in trace.ops[first:]]


def traced_behind(model, head, names, batch=1):
    """What a forward runs, and the number of the first operator behind the head."""
    ran = []
    trace = Trace({**names_of(model), **make_masks(batch, 16)})
    handle = head.register_forward_hook(lambda *_: ran.append(len(trace.ops)))
    try:
        with torch.device("meta"), torch.no_grad():
            ids = torch.zeros(batch, 16, dtype=torch.long)
            trace.names[id(ids)] = ("input", "input_ids")
            with trace:
                model(input_ids=ids, **{name: ids for name in names})
    finally:
        handle.remove()
        trace.close()
    return trace, ran[-1]
