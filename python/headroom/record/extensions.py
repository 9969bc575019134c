"""Compiled extensions of packages with kernels, which are imported and have no Python: what their functions allocate, and nothing else."""

import sys
from types import ModuleType

import torch

# Steps that a scan keeps the state of: one in so many (mamba's csrc/selective_scan/selective_scan.cpp, `n_chunks`).
SCANNED_AT_ONCE = 2048


def prepare():
    """What the packages import, where it was not compiled."""
    for name, functions in (("causal_conv1d_cuda", CONVOLUTION), ("selective_scan_cuda", SCAN)):
        if name not in sys.modules:
            module = ModuleType(name)
            vars(module).update(functions)
            sys.modules[name] = module


def nothing(*arguments):
    """Writes into tensors that it is given."""


def convolution_backward(x, weight, bias, dout, *rest):
    """Copies the gradient where it does not lie as the input does (causal-conv1d's csrc/causal_conv1d.cpp `causal_conv1d_bwd`)."""
    channels_last = x.stride(1) == 1 and x.stride(2) > 1
    if not channels_last and dout.stride(2) != 1:
        dout = dout.contiguous()
    if channels_last and dout.stride(1) != 1:
        dout = dout.transpose(-1, -2).contiguous().transpose(-1, -2)


def scan_forward(u, delta, A, B, C, D, z, delta_bias, delta_softplus):
    """`selective_scan_fwd`: the scan, states between its pieces, and what the gate lets through. That is made first; here it comes last,
    as what the function gives back is its last operator's."""
    out = torch.empty_like(delta)
    pieces = -(-u.shape[2] // SCANNED_AT_ONCE)
    states = torch.empty(u.shape[0], u.shape[1], pieces, A.shape[1] * 2, device=u.device, dtype=A.dtype)
    gated = [torch.empty_like(z)] if z is not None else []
    return [out, states, *gated]


def scan_backward(u, delta, A, B, C, D, z, delta_bias, dout, x, out, dz, delta_softplus, recompute_out_z):
    """`selective_scan_bwd`: gradients of what varies with the tokens are summed in fp32."""
    if z is not None and dz is None:
        dz = torch.empty_like(z)
    again = [torch.empty_like(out)] if recompute_out_z else []
    du, ddelta = torch.empty_like(u), torch.empty_like(delta)
    dA = torch.zeros_like(A)
    dB, dC = (torch.zeros_like(one, dtype=torch.float32) if one.dim() >= 3 else torch.zeros_like(one) for one in (B, C))
    dD = torch.zeros_like(D) if D is not None else None
    dbias = torch.zeros_like(delta_bias) if delta_bias is not None else None
    dB_given, dC_given = dB.to(B.dtype), dC.to(C.dtype)
    return [du, ddelta, dA, dB_given, dC_given, dD, dbias, *([dz] if z is not None else []), *again]


CONVOLUTION = {"causal_conv1d_fwd": nothing, "causal_conv1d_bwd": convolution_backward, "causal_conv1d_update": nothing}
SCAN = {"fwd": scan_forward, "bwd": scan_backward}
