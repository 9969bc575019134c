"""What one forward of a model runs, as PyTorch dispatches it: operators with their tensors, which storage each output is, when
Python gives a tensor back, which module runs, and what autograd keeps and does.

Everything runs on the `meta` device: tensors have sizes and strides and no values.
"""

import gc
import weakref
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.utils._python_dispatch import TorchDispatchMode

# What autocast runs in 16 bits (aten/src/ATen/autocast_mode.h `AT_FORALL_LOWER_PRECISION_FP`). What it runs in fp32 reads fp32 where code
# turns it off: that is what for.
LOWERED = ("mm", "bmm", "addmm", "baddbmm", "addbmm", "mv", "convolution")


@dataclass
class Value:
    """A tensor: who made it and how it lies in memory."""

    number: int
    shape: tuple
    stride: tuple
    dtype: torch.dtype
    storage: int
    # 'op' with (operator, output), 'parameter' or 'buffer' with its name, 'input' with its name
    origin: tuple
    # graph node and output of it, once the tensor has been seen as an input
    source: tuple | None = None


@dataclass
class Op:
    """One call of an operator."""

    name: str
    inputs: list
    outputs: list = field(default_factory=list)
    # for each output the place among the inputs whose storage it has, or None
    aliases: list = field(default_factory=list)
    module: str | None = None
    block: object = None
    freed: list = field(default_factory=list)
    attributes: dict = field(default_factory=dict)
    # of inputs and outputs, to recognise what a node has saved
    input_keys: list = field(default_factory=list)
    output_keys: list = field(default_factory=list)
    node: object = None
    # of one that changes a view in place: the node by which that view follows from its base from there on
    view_node: object = None
    # constants that decide dtype or kind
    scalars: tuple = ()


def key_of(tensor):
    """What tells a tensor from others while its storage lives."""
    return (tensor.untyped_storage()._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())


def tensors_in(value):
    """Every tensor in nested arguments, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


class Trace(TorchDispatchMode):
    """Records while it is entered. `names`: id of each parameter and buffer -> (kind, name)."""

    def __init__(self, names):
        super().__init__()
        self.names = names
        self.values = []
        self.ops = []
        self.live = {}  # id of a tensor that lives -> its value's number
        self.known = {}  # (kind, name) -> number
        self.modules = []
        self.block = "before"
        self.quiet = 0
        # functions of Python (`torch.autograd.Function`) that run
        self.functions = 0
        # whether a softmax runs in a dtype that its caller says
        self.says_dtype = self.in_softmax = False
        # Of each frame of Python where dtypes were read of which tensors: (line, whose, dtype). The next cast's: whose it takes.
        self.reads, self.like, self.casts = {}, None, False
        # Of all casts, those that cast nothing among them, the block and whose dtype each takes.
        self.likes = []
        # Regions that turn autocast off, one within the other.
        self.uncast = 0
        self.finalizers = []
        self.on_grad_fn = True
        # Names of parameters that several layers have in common; linear layers with such weights that are one layer's alone, by id, and
        # where each linear layer ran.
        self.shared, self.alone, self.ran = frozenset(), {}, {}

    # -- values

    def _new(self, tensor, origin):
        number = len(self.values)
        self.values.append(Value(number, tuple(tensor.shape), tensor.stride(), tensor.dtype, tensor.untyped_storage()._cdata, origin))
        self.live[id(tensor)] = number
        if origin[0] == "op":
            self.finalizers.append(weakref.finalize(tensor, self._dies, number, id(tensor)))
        return number

    def _dies(self, number, identity):
        if self.live.get(identity) == number:
            del self.live[identity]
        if self.ops:
            self.ops[-1].freed.append((number, self.block))

    def number_of(self, tensor, name="input"):
        """The value that a tensor is."""
        number = self.live.get(id(tensor))
        if number is None:
            kind = self.names.get(id(tensor), ("input", name))
            number = self.known.get(kind) if kind[0] != "input" else None
            if number is None:
                number = self._new(tensor, kind)
                self.known[kind] = number
            else:
                self.live[id(tensor)] = number
        value = self.values[number]
        # A function of Python reads its inputs without a graph, which is theirs all the same.
        if value.source is None and tensor.requires_grad and (torch.is_grad_enabled() or tensor.grad_fn is not None):
            value.source = (tensor.grad_fn, tensor.output_nr)
        return number

    def owner_of_dtype(self, tensor):
        """The tensor as `("value", number)`, or as a parameter or buffer with its name."""
        kind = self.names.get(id(tensor))
        if kind is not None and kind[0] in ("parameter", "buffer"):
            return kind
        number = self.live.get(id(tensor))
        return None if number is None else ("value", number)

    def owner_of(self, module, name):
        """The name of the module that a module's parameters are listed with: another's where they are tied."""
        owners = {self.names.get(id(one), ("", f"{name}."))[1].rpartition(".")[0] for one in module.parameters(recurse=False)}
        return owners.pop() if len(owners) == 1 else name

    # -- operators

    def __torch_dispatch__(self, function, types, arguments=(), keywords=None):
        # `torch.device` would look at every attribute that is read here.
        with torch._C.DisableTorchFunction():
            return self._dispatched(function, arguments, keywords or {})

    def _dispatched(self, function, arguments, keywords):
        if self.quiet:
            return function(*arguments, **keywords)
        given = [tensor for tensor in tensors_in([list(arguments), keywords])]
        if given and all(tensor.device.type == "cpu" for tensor in given):
            # Lengths and grids, which the host reads.
            return function(*arguments, **keywords)
        name = str(function).removeprefix("aten.").removesuffix(".default")
        if name == "_softmax" and self.says_dtype:
            name = "_softmax.dtype"
        if self.uncast:
            name = self.name_uncast(name)
        if name == "lift_fresh" and id(given[0]) not in self.live and id(given[0]) not in self.names:
            # `torch.tensor` makes it here.
            given = []
        inputs = [self.number_of(tensor) for tensor in given]
        op = Op(name, inputs, module=self.modules[-1] if self.modules else None, block=self.block)
        op.input_keys = [key_of(tensor) for tensor in given]
        op.scalars = tuple(a for a in arguments if isinstance(a, (bool, int, float)))
        base = self._base_of(name, given)
        out = function(*arguments, **keywords)
        if not given and all(tensor.device.type == "cpu" for tensor in tensors_in(out)):
            return out
        if name in ("_to_copy", "_to_copy.default") and keywords.get("dtype") is not None:
            op.attributes["dtype"] = keywords["dtype"]
            op.attributes["like"], self.like = self.like, None
        if name == "native_dropout":
            op.attributes["rate"] = arguments[1]
        self.ops.append(op)
        self._outputs(op, given, out)
        if base is not None:
            # The view's base is another version of itself from here on.
            op.inputs.append(self.number_of(base))
            op.input_keys.append(key_of(base))
            self.live.pop(id(base), None)
            op.outputs.append(self._new(base, ("op", len(self.ops) - 1, len(op.outputs))))
            op.aliases.append(len(op.inputs) - 1)
            op.output_keys.append(key_of(base))
        return out

    def name_uncast(self, name):
        """The name of an operator where the model's code turns autocast off: of one that autocast would run in 16 bits, one of its own. A
        rotary embedding's frequencies, which every class computes so before its layers, are none of it: a module without parameters has
        no gradient that anything is kept for."""
        if name.split(".")[0] not in LOWERED or not self.modules:
            return name
        inside = f"{self.modules[-1]}."
        owns = any(kind == "parameter" and own.startswith(inside) for kind, own in self.names.values())
        return f"{name}.dtype" if owns or self.block != "before" else name

    @staticmethod
    def _base_of(name, given):
        """The tensor of which the first argument is a view, where an operator changes that in place."""
        in_place = name.split(".")[0].endswith("_") and not name.startswith("_")
        if not in_place or not given or not given[0]._is_view():
            return None
        return given[0]._base

    def _outputs(self, op, given, out):
        storages = [tensor.untyped_storage()._cdata for tensor in given]
        for tensor in tensors_in(out):
            storage = tensor.untyped_storage()._cdata
            same = [i for i, tensor_in in enumerate(given) if tensor_in is tensor]
            alias = same[0] if same else next((i for i, other in enumerate(storages) if other == storage), None)
            if same:
                # Changed in place: a new value in the same tensor.
                self.live.pop(id(tensor), None)
            op.outputs.append(self._new(tensor, ("op", len(self.ops) - 1, len(op.outputs))))
            op.aliases.append(alias)
            op.output_keys.append(key_of(tensor))

    @contextmanager
    def call(self, name, given, attributes):
        """Records what runs inside as one operator `name`; the caller sets its results with `result`."""
        inputs = [self.number_of(tensor) for tensor in given]
        op = Op(name, inputs, module=self.modules[-1] if self.modules else None, block=self.block, attributes=attributes)
        op.input_keys = [key_of(tensor) for tensor in given]
        self.quiet += 1
        try:
            yield op
        finally:
            self.quiet -= 1

    def result(self, op, given, out):
        """Gives an operator that `call` began its result."""
        self.ops.append(op)
        self._outputs(op, given, out)

    def close(self):
        """No death is noted any more."""
        for finalizer in self.finalizers:
            finalizer.detach()


@contextmanager
def without_collection():
    """Python's collector would free cycles at some moment of its own."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
