"""Functions of torch that run other operators on a GPU than on `meta`, called by a module of the reader's own or a class of transformers."""

import sys
from contextlib import contextmanager

import torch
from torch import nn


def as_one_operator(trace_of, operator):
    """`scaled_dot_product_attention` recorded as `operator` records it, whose kernels are chosen by GPU and plan."""
    real = nn.functional.scaled_dot_product_attention

    def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if any(tensor.dim() != 4 for tensor in (query, key, value)):
            return real(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa)
        # A mask says itself who sees whom.
        said = {"window": None, "causal": bool(is_causal) or attn_mask is not None, "dropout": float(dropout_p), "bare": True, "grouped": enable_gqa}
        out = operator(trace_of(), (query, key, value), (attn_mask, None), said)
        batch, length, heads, width = out.shape
        if batch > 1 and query.stride(2) > query.stride(0):
            # Flash attention's output lies as its queries do, here token by token of all sequences (torch.nn.MultiheadAttention).
            return out.view(length, batch, heads, width).permute(1, 2, 0, 3)
        # The kernels give token by token what their callers see head by head.
        return out.transpose(1, 2)

    return attention


@contextmanager
def attention_replaced(trace_of, operator):
    """Classes of transformers that call PyTorch's attention themselves, and not through the attention interface (Falcon)."""
    real = nn.functional.scaled_dot_product_attention
    nn.functional.scaled_dot_product_attention = as_one_operator(trace_of, operator)
    try:
        yield
    finally:
        nn.functional.scaled_dot_product_attention = real


@contextmanager
def replaced(made, trace_of, operator):
    """Functions of torch that run other operators on a GPU than on `meta` are recorded as what they are there. `operator`: what records
    attention."""
    real = nn.functional.scaled_dot_product_attention

    def dropout(input, p=0.5, training=True, inplace=False):
        # One kernel that keeps a mask of booleans (aten/src/ATen/native/Dropout.cpp `is_fused_kernel_acceptable`).
        return torch.native_dropout(input, p, True)[0] if training and 0 < p < 1 and not inplace else of_dropout(input, p, training, inplace)

    def linear(input, weight, bias=None):
        # Where a dispatch mode runs, PyTorch adds the bias into another tensor (aten/src/ATen/native/Linear.cpp `linear`).
        if bias is None or input.dim() < 3 or input.is_contiguous():
            return of_linear(input, weight, bias)
        return torch.matmul(input, weight.t()).add_(bias)

    of_dropout, of_linear = nn.functional.dropout, nn.functional.linear
    others = {real: as_one_operator(trace_of, operator), of_dropout: dropout, of_linear: linear}
    modules = {nn.functional, *(sys.modules.get(type(module).__module__) for module in made.module.modules())} - {None}
    places = [(vars(module), name, value) for module in modules for name, value in list(vars(module).items()) if is_one_of(value, others)]
    for names, name, value in places:
        names[name] = others[value]
    try:
        yield
    finally:
        for names, name, value in places:
            names[name] = value


def is_one_of(value, functions):
    return any(value is function for function in functions)
