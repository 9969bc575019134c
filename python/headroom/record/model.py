"""Builds a model on the `meta` device and runs its decoder under a trace, block by block."""

import gc
import sys
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from . import autocast, chosen, kernels, loops, own, own_functions, packages, sources, variants, vision
from .blocks_data import Unrecordable
from .masks import make_masks, mask_maker
from .trace import Trace, without_collection

# What decides a branch by reading a tensor's values gets an answer that keeps the step as training runs it.
_patched = False


# Classes of linear layers that multiply by their weight themselves. Without a bias the operator is the same; a bias is added by an operator
# of its own (transformers modeling_falcon.py `FalconLinear.forward`), whose output is one more tensor of that size for as long as it runs.
LINEAR_BY_HAND = ("FalconLinear",)
# One whose weight lies the other way round. It adds its bias within the matmul, as `nn.Linear` does: `addmm`, of the same tensors
# (transformers pytorch_utils.py `Conv1D.forward`).
TRANSPOSED_LINEAR = "Conv1D"
# Classes of a tower's layers that are plain modules.
NEVER_CHECKPOINTED = ("MllamaVisionEncoderLayer",)


# Classes of configs whose models make parameters in fp32 whatever dtype is asked for, and run with them in no other: a checkpoint that
# is loaded in a dtype casts them (XLNet's, by `torch.FloatTensor`).
CAST = set()


def prepare():
    """Answers for what reads values of tensors that have none. Once for a process."""
    global _patched
    if _patched:
        return
    _patched = True
    packages.hide()
    import transformers
    import transformers.masking_utils as masks

    transformers.logging.set_verbosity_error()
    # What is imported is no garbage: collections are short then.
    gc.collect()
    gc.freeze()
    masks.find_packed_sequence_indices = lambda *_, **__: None
    of_bool, of_item = torch.Tensor.__bool__, torch.Tensor.item
    torch.Tensor.__bool__ = lambda t: True if t.device.type == "meta" else of_bool(t)
    torch.Tensor.item = lambda t: 1 if t.device.type == "meta" else of_item(t)
    # Masks of experts are read below those of images, which know their tokens, and those that a number fills.
    chosen.prepare()
    vision.prepare()
    kernels.prepare()
    autocast.prepare()


def build(config, attention, class_name=None, dtype=torch.bfloat16):
    """The causal model of `config`, without weights, in `dtype` as `from_pretrained` leaves it."""
    import transformers

    if isinstance(config, own.OwnConfig):
        return config.made(dtype).module
    with torch.device("meta"):
        if class_name:
            config._attn_implementation = attention
            before = torch.get_default_dtype()
            torch.set_default_dtype(dtype)
            try:
                model = getattr(transformers, class_name)(config)
            finally:
                torch.set_default_dtype(before)
        else:
            chosen = attention
            if vision.has_images(config) and getattr(config, "audio_config", None) is not None:
                # What hears sound runs for no batch, and has other attention: `sdpa` is refused where one part lacks it.
                chosen = {"": attention, "text_config": attention, "vision_config": attention, "audio_config": "eager"}
            model = auto_class(config).from_config(config, dtype=dtype, attn_implementation=chosen)
    without_values(model)
    if type(config) in CAST:
        for parameter in model.parameters():
            parameter.data = parameter.data.to(dtype)
    kept = set(getattr(model, "_keep_in_fp32_modules_strict", None) or ())
    for name, parameter in model.named_parameters():
        if any(part in name.split(".") or name.endswith(part) for part in kept):
            parameter.data = parameter.data.float()
    return model.train()


def without_values(model):
    """What some classes make with values on the host whatever device is asked for (DiffLlama's lambdas, by `torch.normal`)."""
    for module in model.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            if parameter.device.type != "meta":
                module.register_parameter(name, nn.Parameter(parameter.detach().to("meta"), parameter.requires_grad))


def auto_class(config):
    """The class of transformers that makes the model of a config: one that reads images where the config has a tower."""
    import transformers

    named = sources.named_auto(config)
    if named is not None and not vision.has_images(config):
        return named
    if sources.has_source(config):
        return transformers.AutoModelForSeq2SeqLM
    wanted = [transformers.AutoModelForCausalLM, transformers.AutoModelForMaskedLM]
    if type(config) in transformers.AutoModelForMaskedLM._model_mapping and getattr(config, "is_decoder", None) is False:
        # An encoder, which decodes where a config says so alone.
        wanted.reverse()
    if vision.has_images(config):
        wanted.insert(0, transformers.AutoModelForImageTextToText)
    return next((auto for auto in wanted if type(config) in auto._model_mapping), transformers.AutoModel)


def decoder_of(model):
    """The module that makes the hidden states that the head reads."""
    if own.of(model):
        return model
    if vision.has_images(model.config):
        return getattr(model, "model", model)
    if sources.has_source(model.config) or has_more_behind(model):
        return model
    decoder = model.get_decoder() if hasattr(model, "get_decoder") else None
    # A head may be called a decoder, too.
    if decoder is None or decoder is model or hasattr(decoder, "lm_head") or not hasattr(decoder, "config"):
        decoder = model.base_model
    return decoder.model if hasattr(decoder, "lm_head") else decoder


def has_more_behind(model):
    """Whether the class has layers with parameters of their own between its decoder and its head (ModernBERT's decoder)."""
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    if isinstance(head, EndsHere):
        # It ran before.
        return True
    if not isinstance(head, nn.Linear) or model.base_model is model:
        return False
    known = {id(part) for part in (*model.base_model.parameters(), *head.parameters())}
    return any(id(parameter) not in known for parameter in model.parameters())


def layers_of(decoder):
    """The list of the decoder's layers, and its name."""
    if own.of(decoder):
        found = own.of(decoder).layers()
        return looped(decoder, *found) if type(own.of(decoder).config) in loops.LOOPED else found
    count = variants.layers_in(decoder.config.get_text_config())
    lists = [(name, module) for name, module in decoder.named_modules() if isinstance(module, nn.ModuleList) and len(module) == count]
    if vision.has_images(decoder.config):
        lists = [item for item in lists if "language_model" in item[0] or "text_model" in item[0]] or lists
    if not lists:
        called = called_layers(decoder, count)
        if called is not None:
            return called
        raise Unrecordable(f"{type(decoder).__name__} has no list of {count} layers, which is what num_hidden_layers says")
    found = min(lists, key=lambda item: item[0].count("."))
    return looped(decoder, *found) if type(decoder.config.get_text_config()) in loops.LOOPED else found


class Called(list):
    """A layer for each call, where the model runs some again; `prefixes`: their names; `order`: the places of those that it calls, where
    there are as many layers as the config says."""

    prefixes, order = (), None


def looped(decoder, name, listed):
    """The same list with an entry for each call."""
    # A forward of the model, which is as it is made.
    order = decoder.__dict__.setdefault("order_of_layers", {}).get(name) or loops.called(decoder, [(name, listed)])[name]
    decoder.order_of_layers[name] = order
    layers = Called(listed[i] for i in order)
    layers.prefixes, layers.order = [f"{name}.{i}." for i in order], order
    return name, layers


def distinct(stacks):
    """Every layer of all stacks, once for each call, but where as many as the config says run again: those once."""
    return [layer for _, listed in stacks for layer in (dict.fromkeys(listed) if getattr(listed, "order", None) else listed)]


def called_layers(decoder, count):
    """The list whose layers the model calls `count` times in all, as it calls them (ALBERT's one layer), and its name."""
    lists = dict((name, module) for name, module in decoder.named_modules() if isinstance(module, nn.ModuleList))
    calls = loops.called(decoder, lists.items())
    found = [name for name, made in calls.items() if len(made) == count]
    if not found:
        return None
    name = min(found, key=lambda name: name.count("."))
    layers = Called(lists[name][i] for i in calls[name])
    layers.prefixes = [f"{name}.{i}." for i in calls[name]]
    return name, layers


def is_checkpointed(layers):
    from transformers.modeling_layers import GradientCheckpointingLayer

    return all(isinstance(layer, GradientCheckpointingLayer) for layer in layers)


def checkpointed_within(layers):
    """Modules within layers that gradient checkpointing runs again by themselves, in the checkpoint of their layer (Zamba2's Mamba layers in
    its hybrid ones)."""
    inside = (module for layer in layers if is_checkpointed([layer]) for module in layer.modules() if module is not layer)
    return [module for module in dict.fromkeys(inside) if is_checkpointed([module])]


def stacks_of(decoder):
    """Every list of layers that run one after the other, with its name; the decoder's own comes last. Those of a vision tower are its
    lists of layers that can be checkpointed."""
    if not own.of(decoder) and sources.has_source(decoder.config):
        return sources.stacks_of(decoder)
    text = layers_of(decoder)
    if own.of(decoder) or not vision.has_images(decoder.config):
        return [text]

    def is_stack(module):
        return isinstance(module, nn.ModuleList) and len(module) > 0 and (is_checkpointed(module) or type(module[0]).__name__ in NEVER_CHECKPOINTED)

    of_sound = ("audio", "speech")
    beside = [
        (name, module) for name, module in decoder.named_modules()
        if is_stack(module) and not f"{name}.".startswith(f"{text[0]}.") and not name.startswith(of_sound)
    ]
    outermost = [item for item in beside if not any(item[0].startswith(f"{other[0]}.") for other in beside)]
    return [*outermost, text]


class BiasedLike(torch.autograd.Function):
    """The same with a bias that may get a gradient."""

    @staticmethod
    def forward(context, query, key, value, bias):
        context.save_for_backward(query, key, value, bias)
        batch, heads, length, _ = query.shape
        return query.new_empty(batch, length, heads, value.shape[-1])

    @staticmethod
    def backward(context, gradient):
        return tuple(torch.empty_like(tensor) for tensor in context.saved_tensors)


class FlashLike(torch.autograd.Function):
    """Attention in one kernel: what it gives, and gradients that lie as what they belong to; perhaps with sinks, which train."""

    @staticmethod
    def forward(context, query, key, value, *sinks):
        context.save_for_backward(query, key, value, *sinks)
        batch, heads, length, _ = query.shape
        return query.new_empty(batch, length, heads, value.shape[-1])

    @staticmethod
    def backward(context, gradient):
        return tuple(torch.empty_like(tensor) for tensor in context.saved_tensors)


def token_major(tensor):
    """Whether [b, heads, s, width] lies token by token."""
    return tensor.dim() == 4 and tensor.stride(2) >= tensor.stride(1) and tensor.shape[1] > 1


def attention_call(trace_of):
    """`sdpa` of transformers' attention interface, recorded as one operator."""

    from transformers.integrations.sdpa_attention import repeat_kv

    def forward(module, query, key, value, attention_mask=None, dropout=0.0, scaling=None, is_causal=None, **keywords):
        causal = bool(getattr(module, "is_causal", True) if is_causal is None else is_causal)
        # A mask says which, whatever the class says of causality (sdpa_attention.py `sdpa_attention_forward`).
        causal = causal and not (isinstance(attention_mask, torch.Tensor) and vision.is_beside_text(query))
        bias = keywords.get("position_bias")
        if bias is not None:
            # Numbers that are added to the scores, in which causality stands as well. Older releases lack the function, and give none.
            from transformers.integrations.sdpa_attention import create_position_bias_mask

            attention_mask, causal = create_position_bias_mask(bias, attention_mask, causal, query, key), False
        if key.shape[2] != query.shape[2]:
            # Of a text to images: heads that share keys and values are repeated.
            causal, groups = False, query.shape[1] // key.shape[1]
            key, value = (repeat_kv(tensor, groups) for tensor in (key, value))
        said = {"window": keywords.get("sliding_window"), "causal": causal, "dropout": float(dropout or 0.0)}
        return attention_operator(trace_of(), (query, key, value), (attention_mask, keywords.get("s_aux")), said), None

    return forward


def attention_operator(trace, given, beside, said):
    """Attention as one operator; `given`: q, k, v as [b, heads, s, width]; `beside`: a mask and sinks, where there are any."""
    query, key, value = given
    mask = beside[0]
    attributes = {
        "heads": query.shape[1], "kv_heads": key.shape[1], "width": query.shape[3], "value_width": value.shape[3], **said,
        "token_major": [token_major(t) for t in given],
        "masked": isinstance(mask, torch.Tensor),
        "mask_rows": mask.shape[0] if isinstance(mask, torch.Tensor) and mask.dim() == 4 else 1,
    }
    given = [*given, *(t for t in beside if isinstance(t, torch.Tensor))]
    # Numbers may get a gradient.
    is_bias = isinstance(mask, torch.Tensor) and mask.requires_grad
    sinks = [tensor for tensor in beside[1:] if isinstance(tensor, torch.Tensor)]
    attend = (lambda: BiasedLike.apply(query, key, value, mask)) if is_bias else lambda: FlashLike.apply(query, key, value, *sinks)
    if trace is None:
        return attend()
    with trace.call("attention", given, attributes) as op:
        out = attend()
    trace.result(op, given, out)
    return out


def is_copied(x):
    """Whether a linear layer whose weight trains copies its input first: its rows do not follow each other
    (aten/src/ATen/native/LinearAlgebra.cpp `should_fold`)."""
    strides = zip(x.stride()[:-2], x.stride()[1:-1], x.shape[1:-1])
    return x.dim() > 2 and any(outer != inner * size for outer, inner, size in strides)


def linear_call(trace_of, real):
    def forward(self, x):
        trace = trace_of()
        if trace is None or trace.quiet:
            return real(self, x)
        name = trace.names[id(self.weight)][1].removesuffix(".weight")
        trace.ran.setdefault(id(self), set()).add(trace.block)
        if f"{name}.weight" in trace.shared:
            if id(self) not in trace.alone:
                # Of a module that several layers run the operators themselves are recorded.
                return real(self, x)
            name = trace.alone[id(self)]
        trace.modules.append(name)
        if is_copied(x):
            x = x.contiguous()
            trace.ops[-1].name = "reshape"
        with trace.call("linear", [x], {}) as op:
            out = real(self, x)
        trace.modules.pop()
        trace.result(op, [x], out)
        return out

    return forward


def linears_by_hand(model):
    """Classes in a model of linear layers that are recorded as `nn.Linear`, with their forward."""
    found = {type(module) for module in model.modules() if type(module).__name__ in (*LINEAR_BY_HAND, TRANSPOSED_LINEAR)}
    return [(kind, kind.forward) for kind in found]


@contextmanager
def intercepted(model, attention, trace_of):
    """Linear layers and attention are recorded as themselves; masks are left to whoever runs the program."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    alike = linears_by_hand(model)
    real_linear = nn.Linear.forward
    if own.of(model):
        functions = own_functions.replaced(own.of(model), trace_of, attention_operator)
    else:
        functions = own_functions.attention_replaced(trace_of, attention_operator)
    vision.current = trace_of
    mapping = ALL_ATTENTION_FUNCTIONS._global_mapping
    real_attention = mapping["sdpa"]
    nn.Linear.forward = linear_call(trace_of, real_linear)
    for kind, real in alike:
        kind.forward = linear_call(trace_of, real)
    mapping["sdpa"] = attention_call(trace_of)
    replaced = []
    for name in {type(module).__module__ for module in model.modules()}:
        module = sys.modules[name]
        if not name.startswith(("transformers.models.", f"{__package__}.remote.")):
            continue
        for function in [f for f in dir(module) if f.startswith("create_") and f.endswith(("_mask", "_generate"))]:
            replaced.append((module, function, getattr(module, function)))
            setattr(module, function, mask_maker(function, attention))
    try:
        with functions:
            yield
    finally:
        nn.Linear.forward = real_linear
        for kind, real in alike:
            kind.forward = real
        vision.current = lambda: None
        mapping["sdpa"] = real_attention
        for module, function, real in replaced:
            setattr(module, function, real)


def names_of(decoder):
    """id of each parameter and buffer -> (kind, name within the decoder)."""
    names = {}
    for name, buffer in decoder.named_buffers():
        names[id(buffer)] = ("buffer", name)
    for name, parameter in decoder.named_parameters():
        names[id(parameter)] = ("parameter", name)
    return names


def hidden_of(output):
    """What a decoder gives of its last layer: code that comes with weights may give it in a tuple, or alone."""
    if isinstance(output, (torch.Tensor, tuple, list)):
        return output if isinstance(output, torch.Tensor) else output[0]
    return output.last_hidden_state


class HeadReached(Exception):
    """The forward has come to the head, which reads `hidden`."""

    def __init__(self, hidden):
        self.hidden = hidden


class EndsHere(nn.Module):
    """In the head's place: what runs behind it is the loss. The head's bias may have a second name in what runs before it."""

    def __init__(self, head):
        super().__init__()
        # No parameter of this module's own.
        self.bias = (getattr(head, "bias", None),)

    def forward(self, hidden):
        raise HeadReached(hidden)


def without_head(model):
    """Lets a class that is recorded whole give what its head reads: its towers and text stand beside each other, under no model of their
    own, or it has layers between its decoder and its head."""
    head = model.get_output_embeddings()
    if isinstance(head, EndsHere):
        return
    for parent in model.modules():
        for name, module in list(parent.named_children()):
            if module is head:
                setattr(parent, name, EndsHere(head))


def image_embeddings(decoder):
    """Input embeddings of the models within the model, but for the text's (modeling_utils.py `enable_input_require_grads`)."""
    from transformers import PreTrainedModel

    if own.of(decoder):
        return []
    found, text = [], decoder.get_input_embeddings()
    for module in decoder.modules():
        if module is decoder or not isinstance(module, PreTrainedModel):
            continue
        try:
            embeddings = module.get_input_embeddings()
        except NotImplementedError:
            continue
        if isinstance(embeddings, nn.Module) and embeddings is not text and embeddings not in found:
            found.append(embeddings)
    return found


@dataclass
class Size:
    """Of one recording: sequences, tokens of each, and the images with the patches of their sides."""

    batch: int
    length: int
    # Of an encoder-decoder the tokens of each source.
    images: tuple
    # dtype of pixels: processors make fp32, which not every class casts.
    pixels: torch.dtype = torch.float32


class Run:
    """One forward of a decoder under a trace, with the blocks it ran."""

    def __init__(self, model, attention, size, graph, masks=False, common=None):
        """`common`: what layers have in common."""
        batch, length = size.batch, size.length
        decoder = decoder_of(model)
        made = own.of(decoder)
        if made:
            made.calls_of_head()
        elif decoder is model:
            without_head(model)
        self.decoder = decoder
        stacks = stacks_of(decoder)
        self.prefixes = [prefix for name, layers in stacks for prefix in getattr(layers, "prefixes", [f"{name}.{i}." for i in range(len(layers))])]
        self.stacks = [name for name, layers in stacks]
        layers = [layer for _, layers in stacks for layer in layers]
        self.trace = trace = Trace({**names_of(decoder), **make_masks(batch, length)})
        if common is not None:
            trace.shared, trace.alone = common.shared, common.alone
        self.entries, self.exits, self.calls = {}, {}, 0
        handles = []
        owners = {}
        for name, module in decoder.named_modules():
            if any(True for _ in module.parameters(recurse=False)) or any(True for _ in module.buffers(recurse=False)):
                owners[module] = trace.owner_of(module, name)
        for module, name in owners.items():
            if isinstance(module, nn.Linear):
                continue
            handles.append(module.register_forward_pre_hook(lambda *_, name=name: trace.modules.append(name)))
            handles.append(module.register_forward_hook(lambda *_: (trace.modules.pop(), None)[1]))
        # Of layers that run again each call is one.
        once = list(enumerate(layers)) if len(set(layers)) == len(layers) else [(None, layer) for layer in dict.fromkeys(layers)]
        for index, layer in once:
            handles.append(layer.register_forward_pre_hook(self._enter(index), with_kwargs=True))
            handles.append(layer.register_forward_hook(self._leave(index, len(layers))))
        # What layers hand by name to modules within them that checkpointing runs again by themselves.
        self.handed = []
        for module in checkpointed_within(layers):
            handles.append(module.register_forward_pre_hook(self._hand, with_kwargs=True))
        # What the decoder gives, where the class has layers of its own behind it.
        self.decoded = None
        self.has_more_behind = not made and not sources.has_source(decoder.config) and decoder is model and model.base_model is not model and has_more_behind(model)
        if self.has_more_behind:
            handles.append(model.base_model.register_forward_hook(self._decode))
        # What the embeddings of images give, which checkpointing makes a leaf where it would not require a gradient.
        self.leaves = []
        for module in image_embeddings(decoder):
            handles.append(module.register_forward_hook(lambda _, __, out: self._embedded(out)))
        self.ended = False
        try:
            called, given = (), {}
            reads_source = not made and sources.has_source(decoder.config)
            if made:
                called, given, tensors = made.inputs(batch, length)
                ids = tensors.pop("input_ids")
                trace.names |= {id(tensor): ("input", name) for name, tensor in tensors.items()}
            else:
                with torch.device("meta"):
                    ids = torch.zeros(batch, size.images if reads_source else length, dtype=torch.long)
            trace.names[id(ids)] = ("input", "input_ids")
            if len(stacks) > 1:
                if reads_source:
                    given = sources.inputs_of(batch, length)
                else:
                    vision.on_host(decoder)
                    given = vision.inputs_of(decoder, decoder.config, batch, length, size)
                for name, tensor in given.items():
                    trace.names[id(tensor)] = ("input", name)
            # What a batch has beside token ids.
            self.inputs = {name: tensor for name, tensor in (tensors if made else given).items() if tensor.device.type == "meta"}
            # Sequences of a source are routed by another model's code: a batch of text alone.
            chosen.routes(getattr(decoder, "config", None), ids.numel(), lambda: isinstance(trace.block, int))
            current = lambda: None if self.ended else trace
            with intercepted(decoder, "eager" if masks else attention, current), without_collection(), torch.set_grad_enabled(graph):
                with trace:
                    self.output = made.forward(called, given) if made else self._forward(decoder, ids, given)
                    self.hidden = trace.number_of(self.output)
                self.ended = True
            self.skip(len(layers))
            if made:
                # Labels and the like are read behind the head: by whoever makes the loss.
                self.inputs = {name: tensor for name, tensor in self.inputs.items() if ("input", name) in {v.origin for v in trace.values}}
                made.check(self.calls, len(layers))
        finally:
            for handle in handles:
                handle.remove()

    def skip(self, count):
        """Layers that the model does not call for a text alone (Llama 3.2 Vision's that attend to images) hand on what they would read."""
        self.skipped = [i for i in range(count) if i not in self.exits]
        for i in self.skipped:
            self.entries[i] = self.exits[i] = self.exits[i - 1]

    def _hand(self, module, arguments, keywords):
        self.handed += [self.trace.number_of(tensor) for tensor in keywords.values() if isinstance(tensor, torch.Tensor) and id(tensor) in self.trace.live]

    def _embedded(self, out):
        # The first embeddings of all are the text's, or the source's, which whoever runs the program asks for.
        if not (sources.has_source(self.decoder.config) and self.trace.block == "before"):
            self.leaves.append(self.trace.number_of(out))

    def _forward(self, decoder, ids, given):
        with torch.device("meta"):
            try:
                if "pixel_values" in given and vision.tiles_by_sequence(decoder.config):
                    # Its tower runs before tokens are embedded: programs begin with the embedding, which hangs on nothing.
                    given, ids = {**given, "inputs_embeds": decoder.get_input_embeddings()(ids)}, None
                return hidden_of(decoder(input_ids=ids, use_cache=False, **given))
            except HeadReached as reached:
                return reached.hidden

    def _enter(self, index):
        def hook(module, arguments, keywords):
            trace, place = self.trace, self.calls if index is None else index
            named = (keywords[name] for name in ("hidden_states", "hidden_state") if name in keywords)
            hidden = arguments[0] if arguments else next(named, next(iter(keywords.values()), None))
            if isinstance(hidden, torch.Tensor):
                self.entries[place] = trace.number_of(hidden)
            trace.block = place

        return hook

    def _leave(self, index, count):
        def hook(module, arguments, output):
            out = output[0] if isinstance(output, (tuple, list)) else output
            place = self.calls if index is None else index
            self.calls += 1
            self.exits[place] = self.trace.number_of(out)
            behind = ("between", "after") if self.has_more_behind else "after"
            self.trace.block = ("between", place + 1) if place + 1 < count else behind

        return hook

    def _decode(self, module, arguments, output):
        self.decoded = self.trace.number_of(hidden_of(output))
        self.trace.block = "after"
