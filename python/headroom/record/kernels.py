"""Quick operators on `meta`: PyTorch registers Python functions over its own C++ ones when it is imported, a hundred times as slow."""

import sys

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode as current_mode

from . import whose
from .trace import Trace

# What is registered lives as long as its library.
_kept = []
of_tensor = torch._C.TensorBase.dtype.__get__


def prepare():
    """Gives `meta` the C++ functions back; what has none keeps its Python function. Once for a process."""
    from torch import _meta_registrations as registered
    from torch._decomp import global_decomposition_table as tables

    torch._VF.dropout = dropout(torch._VF.dropout)
    if hasattr(torch.ops.aten, "_fused_rms_norm"):
        fuse_rms_norm()
    torch.nn.functional.softmax = softmax(torch.nn.functional.softmax)
    whose.note_reads()
    for name in ("to", "type_as", "type"):
        setattr(torch.Tensor, name, cast(getattr(torch.Tensor, name)))
    torch.autograd.Function.apply = classmethod(known(vars(torch.autograd.Function)["apply"]))
    library = getattr(registered, "_meta_lib_dont_use_me_use_register_meta", None)
    if library is None or not hasattr(library, "_destroy"):
        # Another version of PyTorch: slow, and the same.
        return
    taken = set(library._op_impls)
    functions = {}
    for table in ("meta", "post_autograd", "pre_autograd"):
        for operator, function in tables[table].items():
            functions.setdefault(operator, function)
    library._destroy()
    own = torch.library.Library("aten", "IMPL", "Meta")
    _kept.append(own)
    for operator, function in functions.items():
        if not isinstance(operator, torch._ops.OpOverload) or f"{operator.name().replace('::', '/')}/Meta" not in taken:
            continue
        if not torch._C._dispatch_has_kernel_for_dispatch_key(operator.name(), "Meta"):
            own.impl(operator, function)


def dropout(decomposed):
    """One operator that keeps a mask of booleans, as on a GPU (aten/src/ATen/native/Dropout.cpp `is_fused_kernel_acceptable`)."""

    def call(x, p, train):
        if x.device.type == "meta" and train and 0 < p < 1:
            return torch.native_dropout(x, p, train)[0]
        return decomposed(x, p, train)

    return call


def fuse_rms_norm():
    """RMSNorm as one operator, which keeps what it reads and one number of each row, as on a GPU (PyTorch 2.9 and later). What reads a
    weight of another dtype is none there (aten/src/ATen/native/layer_norm.cpp `rms_norm_symint`)."""
    composed = torch.rms_norm

    def call(x, shape, weight=None, eps=None):
        if x.device.type != "meta" or x.is_complex() or (weight is not None and weight.dtype != x.dtype):
            return composed(x, shape, weight, eps)
        return torch.ops.aten._fused_rms_norm(x, shape, weight, eps)[0]

    def forward(x, shape, weight, eps):
        rows = [*x.shape[: x.dim() - len(shape)], *[1] * len(shape)]
        return torch.empty_like(x), x.new_empty(rows, dtype=torch.float32 if x.dtype in (torch.float16, torch.bfloat16) else x.dtype)

    def backward(gradient, x, shape, rstd, weight, needed):
        return (torch.empty_like(x) if needed[0] else None), (torch.empty_like(weight) if weight is not None and needed[1] else None)

    own = torch.library.Library("aten", "IMPL", "Meta")
    _kept.append(own)
    # Not by `own.impl`, which lets an operator that is composed on other devices have no kernel here.
    own.m.impl("_fused_rms_norm", "Meta", forward)
    own.m.impl("_fused_rms_norm_backward", "Meta", backward)
    torch.rms_norm = call


def cast(to):
    """`x.to(dtype)`, or `x.type(dtype)`, of an `x` in 16 bits that has the dtype gives `x` back and runs nothing. Under autocast the same line may cast: what
    sums in fp32 (a mixture's experts) goes back to the dtype of the hidden states. So it is recorded as the operator that it is then;
    a program's cast to the dtype that a tensor has is none. Not within a function of Python (`torch.autograd.Function`), which has
    one node for all that it runs: what it gives back is what its kernel made, and no cast of it. `to` is `type_as` and `type`, too."""

    def call(x, *arguments, **keywords):
        mode = current_mode()
        if not isinstance(mode, Trace) or mode.quiet or mode.functions or mode.casts or x.device.type != "meta":
            return to(x, *arguments, **keywords)
        given = [*arguments, *keywords.values()]
        # To a device alone nothing is ever cast.
        dtype = next((of_tensor(one) if isinstance(one, torch.Tensor) else one for one in given if isinstance(one, (torch.dtype, torch.Tensor))), None)
        mode.like = None if dtype is None else whose.of_cast(mode, sys._getframe(1), arguments, keywords, dtype)
        if mode.like is not None:
            mode.likes.append((mode.block, mode.like))
        # `torch.device` calls the same once more.
        mode.casts = True
        try:
            out = to(x, *arguments, **keywords)
        finally:
            mode.casts = False
        if out is x and dtype is not None and of_tensor(x) == torch.bfloat16:
            out = torch.ops.aten._to_copy(x, dtype=dtype)
        mode.like = None
        return out

    return call


def softmax(real):
    """One whose caller says its tensor's own dtype: autocast leaves it as it is, where it runs any other in fp32
    (aten/src/ATen/autocast_mode.h `fp32_set_opt_dtype`). It is recorded under a name of its own. Another tensor's dtype, or one that is
    named (Falcon's hidden states, which a norm gives in fp32 under autocast; a router's `torch.float`), is no dtype of its own."""

    def call(x, *arguments, **keywords):
        mode = current_mode()
        # `torch.device` calls the same once more.
        if not isinstance(mode, Trace) or mode.in_softmax or keywords.get("dtype") != of_tensor(x):
            return real(x, *arguments, **keywords)
        owner = whose.of_cast(mode, sys._getframe(1), (), {}, of_tensor(x))
        mode.says_dtype = owner is not None and owner == mode.owner_of_dtype(x)
        mode.in_softmax = True
        try:
            return real(x, *arguments, **keywords)
        finally:
            mode.says_dtype = mode.in_softmax = False

    return call


def known(apply):
    """`torch.autograd.Function.apply`: a function of Python is known as such while it runs."""

    def call(kind, *arguments, **keywords):
        mode = current_mode()
        if not isinstance(mode, Trace):
            return apply.__get__(None, kind)(*arguments, **keywords)
        mode.functions += 1
        try:
            return apply.__get__(None, kind)(*arguments, **keywords)
        finally:
            mode.functions -= 1

    return call
