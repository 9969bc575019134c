"""A model of the reader's own: a Python file whose `build(config)` makes it.

`build` gets the config as a dict and gives back the module, or the module and a sample input: a tensor of token ids, or a tuple or dict
of what training calls the module with. It is called many times, each with one key of the config changed, on PyTorch's `meta` device.
"""

import copy
import inspect

import torch
from torch import nn

from .trace import Trace

# Sequences and tokens of the sample input where the file gives none.
SAMPLE = (2, 1024)
# Shortest sequences that are worth a recording, in tokens.
SHORTEST = 32


class NotOwn(Exception):
    """Why a file's module cannot be recorded, and what to change."""


class OwnConfig:
    """What `build` is called with, as the recorder reads configs. A class of its own for each file (`read`)."""

    is_own, factory, model_type, defaults, layers_key, count = True, None, "own", {}, None, 0
    # Tokens of the shortest recordings.
    length = 0

    def __init__(self, **said):
        layers = said.pop("num_hidden_layers", None) if "num_hidden_layers" not in self.defaults else None
        self.__dict__["values"] = {**copy.deepcopy(self.defaults), **said}
        if layers is not None:
            self.num_hidden_layers = layers

    def __getattr__(self, key):
        values = self.__dict__.get("values", {})
        if key in values:
            return values[key]
        if key == "num_hidden_layers" and self.layers_key:
            return values[self.layers_key]
        if key == "num_hidden_layers":
            return self.count
        raise AttributeError(key)

    def __setattr__(self, key, value):
        key = self.layers_key if key == "num_hidden_layers" and key not in self.values else key
        if key is None:
            raise ValueError("no key of the config says how many layers there are")
        self.values[key] = value

    def to_dict(self):
        return copy.deepcopy(self.values)

    def get_text_config(self):
        return self

    def made(self, dtype=torch.bfloat16):
        """The module on `meta`, with what it is called with."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype)
        try:
            with torch.device("meta"):
                given = type(self).factory(self.to_dict())
        finally:
            torch.set_default_dtype(before)
        module, sample = given if isinstance(given, tuple) else (given, None)
        if not isinstance(module, nn.Module):
            raise NotOwn(f"build gives a {type(module).__name__}: let it return the nn.Module, or the module and a sample input")
        made = Made(module.train(), sample, self)
        # Beside the module's own attributes, of which it may have any.
        module.__dict__["_headroom_own"] = made
        return made


class Made:
    """A module of the reader's own with what a recording asks of it: its layers, its head, and how it is called."""

    def __init__(self, module, sample, config):
        self.module, self.config = module, config
        self.sample = torch.empty(SAMPLE, dtype=torch.long, device="meta") if sample is None else sample
        self.batch, self.length = self.size_of_sample()
        self.calls = None
        elsewhere = next((name for name, tensor in module.named_parameters() if tensor.device.type != "meta"), None)
        if elsewhere:
            raise NotOwn(f"{elsewhere} is not on the device that build runs on: let build load no weights and move nothing")

    def arguments(self):
        """What the module is called with, by name of its forward's parameters, and those that go by position."""
        if isinstance(self.sample, dict):
            return (), self.sample
        return (self.sample if isinstance(self.sample, (tuple, list)) else (self.sample,)), {}

    def named_tensors(self):
        positional, named = self.arguments()
        names = [name for name in inspect.signature(self.module.forward).parameters]
        names += [f"argument{i}" for i in range(len(names), len(positional))]
        both = {**dict(zip(names, positional)), **named}
        return {name: value for name, value in both.items() if isinstance(value, torch.Tensor)}

    def size_of_sample(self):
        """Sequences and tokens of the token ids, the first tensor of whole numbers."""
        for tensor in self.named_tensors().values():
            if tensor.dtype in (torch.int64, torch.int32) and tensor.dim() == 2:
                batch, length = tensor.shape
                if batch == length or length < SHORTEST:
                    raise NotOwn(f"the sample's token ids are {batch} x {length}: give it {SHORTEST} tokens or more, and not as many sequences as tokens")
                return batch, length
        raise NotOwn("the sample input has no token ids, whole numbers of shape [sequences, tokens]: models without them are not recorded")

    def inputs(self, batch, length):
        """Positional and named arguments for so many sequences and tokens, and their tensors by name, the token ids as `input_ids`."""
        sizes = {self.length: length}
        tensors, ids = {}, None
        for name, tensor in self.named_tensors().items():
            shape = [batch if i == 0 and size == self.batch else sizes.get(size, size) for i, size in enumerate(tensor.shape)]
            tensors[name] = torch.zeros(shape, dtype=tensor.dtype, device="meta")
            if ids is None and tensor.dtype in (torch.int64, torch.int32) and tensor.dim() == 2:
                ids = name
        positional, named = self.arguments()
        order = list(inspect.signature(self.module.forward).parameters) + [f"argument{i}" for i in range(len(positional))]
        positional = [tensors.get(name, value) for name, value in zip(order, positional)]
        named = {name: tensors.get(name, value) for name, value in named.items()}
        return positional, named, {"input_ids" if name == ids else f"batch.{name}": tensor for name, tensor in tensors.items()}

    # -- what the module consists of

    def layers(self):
        """The list of layers and its name: of the lists of modules that stand in no other, the one with most parameters."""
        lists = [(name, part) for name, part in self.module.named_modules() if is_stack(part)]
        outermost = [item for item in lists if not any(item[0].startswith(f"{other}.") or (not other and item[0]) for other, _ in lists)]
        if not outermost:
            raise NotOwn(f"{type(self.module).__name__} has no list of layers: keep its repeated blocks in an nn.ModuleList")
        name, found = max(outermost, key=lambda item: sum(p.numel() for p in item[1].parameters()))
        return name, list(found)

    def calls_of_head(self):
        """The module that makes the logits, its name, the embedding of tokens, and whether both have one weight."""
        if self.calls is None:
            self.calls = Calls(self)
        return self.calls

    def said_of_head(self):
        """The head as a program says it."""
        head = self.calls_of_head()
        return {"name": head.name, "bias": head.bias, "softcaps": "tanh" in head.behind, "scales": head.behind[:1] in (["mul"], ["div"])}

    def forward(self, positional, named):
        """The hidden states that the head reads; what the module runs behind it is the loss, which is none of its own here."""
        reached = []

        def stop(module, arguments):
            reached.append(arguments[0])
            raise HeadReached

        handle = self.calls_of_head().module.register_forward_pre_hook(stop)
        try:
            self.module(*positional, **named)
        except HeadReached:
            return reached.pop()
        finally:
            handle.remove()
        raise NotOwn("the module's forward does not reach its head")

    def check(self, ran, count):
        """Refuses a forward that called layers `ran` times, of which there are `count`."""
        if ran != count:
            raise NotOwn(f"the forward calls the {count} layers of {self.layers()[0]} {ran} times in all: each has to be called, as a module, once or as often as the others that run again with it")


class HeadReached(Exception):
    """The forward has come to the head."""


class Calls:
    """What one forward of a module calls: which embedding reads the token ids, and which linear layer gives logits."""

    def __init__(self, made):
        owner = made.module
        positional, named, tensors = made.inputs(made.batch, made.length)
        ids = tensors["input_ids"]
        layers = {id(part) for layer in made.layers()[1] for part in layer.modules()}
        self.embedding, linears, handles = None, [], []

        def on_embedding(module, arguments):
            # Classes hand on a view of them.
            if self.embedding is None and arguments and arguments[0].untyped_storage()._cdata == ids.untyped_storage()._cdata:
                self.embedding = module

        for module in owner.modules():
            if isinstance(module, nn.Embedding):
                handles.append(module.register_forward_pre_hook(on_embedding))
            elif isinstance(module, nn.Linear) and id(module) not in layers:
                handles.append(module.register_forward_pre_hook(lambda module, arguments: linears.append((module, arguments[0]))))
        trace = Trace({id(ids): ("input", "input_ids")})
        at = {}
        for module in owner.modules():
            if isinstance(module, nn.Linear):
                handles.append(module.register_forward_hook(lambda module, *_: at.update({id(module): len(trace.ops)})))
        try:
            with torch.device("meta"), torch.no_grad(), trace:
                owner(*positional, **named)
        finally:
            trace.close()
            for handle in handles:
                handle.remove()
        if self.embedding is None:
            raise NotOwn("no nn.Embedding reads the token ids: models without a token embedding are not recorded")
        rows = self.embedding.num_embeddings
        heads = [(module, given) for module, given in linears if module.out_features == rows]
        if not heads:
            raise NotOwn(f"no nn.Linear outside the layers gives {rows} logits, one for each row of the token embedding: give the model such a head")
        self.module, given = heads[-1]
        if given.shape[:-1].numel() != made.batch * made.length:
            raise NotOwn(
                f"the head reads {given.shape[:-1].numel()} of {made.batch * made.length} tokens: give a sample input as training has it, "
                "with the labels if the forward reads those"
            )
        self.name = next(name for name, module in owner.named_modules() if module is self.module)
        self.ties = self.module.weight is self.embedding.weight
        self.bias = self.module.bias is not None
        # Operators that run on logits and behind them.
        self.behind = [op.name.split(".")[0] for op in trace.ops[at[id(self.module)] :]]


def is_stack(module):
    """Whether a module is a list of equal layers."""
    if not isinstance(module, (nn.ModuleList, nn.Sequential)) or len(module) < 2:
        return False
    has_parts = any(True for _ in module[0].children())
    return has_parts and len({type(layer) for layer in module}) < len(module)


def of(module):
    """What is known of a module that an `OwnConfig` made; None for a class of transformers."""
    return module.__dict__.get("_headroom_own")
