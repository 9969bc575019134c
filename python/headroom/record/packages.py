"""Packages whose kernels transformers calls where they are installed: their tensors are recorded, their kernels run nothing.

flash-linear-attention: the delta rule of gated and linear attention; causal-conv1d: the short convolution before it and in state-space
layers; mamba-ssm: the scan of state-space layers, with that convolution. transformers chooses function by function at import
(`integrations/hub_kernels.py`, `use_kernel_func_from_hub_with_fallback`); here all ways are recorded, one after the other.
"""

import importlib
import inspect
import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from types import SimpleNamespace
from unittest import mock

from . import extensions

# What is imported of each.
PACKAGES = ("fla", "causal_conv1d", "mamba_ssm")
# Ways to run a block, and what is installed then. mamba-ssm's layers call causal-conv1d's functions by themselves, and fail without it.
WAYS = {
    "fla": ("fla",),
    "conv": ("causal_conv1d",),
    "fla_conv": ("fla", "causal_conv1d"),
    "ssm": ("mamba_ssm", "causal_conv1d"),
}

# Functions that run a layer from end to end and keep what their kernels make inside (Mamba's and Falcon-Mamba's): not recorded.
WHOLE_LAYERS = ("mamba_inner_fn",)

# What an A100 says of itself: which tensors the packages make hardly depends on it, but for the number of multiprocessors.
CARD = dict(max_shared_mem=166912, max_num_regs=65536, multiprocessor_count=108, warpSize=32, sm_clock_rate=1410000, mem_clock_rate=1215000, mem_bus_width=5120)
# What expressions call that number.
MULTIPROCESSORS = "gpu.multiprocessors"


class Driver:
    """Triton's driver of a card that is not there."""

    utils = SimpleNamespace(get_device_properties=lambda device: dict(CARD))

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        return GPUTarget("cuda", 80, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=0):
        return 0


def autotuned(self, *arguments, **keywords):
    """A launch that chose the first of its configurations: what is made afterwards has the same size with each of them."""
    self.best_config = self.configs[0]


@cache
def package(name):
    """The package, its kernels launching nothing; None where it is not installed."""
    try:
        import torch
        import triton.runtime.autotuner as autotuner
        import triton.runtime.jit as jit
        from triton.runtime import driver

        driver.set_active(Driver())
        for launcher in (jit.JITFunction, autotuner.Heuristics):
            launcher.run = lambda self, *arguments, **keywords: None
        autotuner.Autotuner.run = autotuned
        extensions.prepare()
        sys.modules.pop(name, None)
        if name == "mamba_ssm":
            # It looks for causal-conv1d when it is imported.
            sys.modules["causal_conv1d"] = package("causal_conv1d")
        with mock.patch.multiple(torch.cuda, get_device_name=lambda *_: "A100", get_device_capability=lambda *_: (8, 0), device_count=lambda: 1):
            found = importlib.import_module(name)
        if name == "causal_conv1d":
            # Operators registered with PyTorch run no Python on `meta`.
            functions = importlib.import_module(f"{name}.cpp_functions")
            functions._causal_conv1d_fwd_cpp = lambda **keywords: extensions.nothing(*keywords.values())
            functions._causal_conv1d_bwd_cpp = lambda **keywords: extensions.convolution_backward(*keywords.values())
        return found
    except ImportError:
        return None
    finally:
        hide()


def hide():
    """What is imported from here on believes that no package is installed."""
    for name in PACKAGES:
        sys.modules[name] = None


def ways_of(model):
    """Ways in which a model runs otherwise than by PyTorch's operators alone, one for each set of packages that it looks for."""
    functions = wanted_of(model).values()
    wanted = {name for name, _ in functions if package(name)} - {name for name, function in functions if function in WHOLE_LAYERS}
    return [way for way, names in WAYS.items() if set(names) <= wanted]


def wanted_of(model):
    """Functions that the model's own module looks for: (module, name there) -> (package, name of the package's function)."""
    found = {}
    for name in {type(module).__module__ for module in model.modules()}:
        if not name.startswith("transformers.models."):
            continue
        module = sys.modules[name]
        for own, function in vars(module).items():
            wanted = wanted_by(function)
            if wanted:
                found[module, own] = wanted
    return found


def functions_of(model, names):
    """Functions of the packages `names` that the model's own module would call: (module, name there) -> function."""
    from transformers.integrations.hub_kernels import _KERNELS_INTERNAL_PATH_MAPPINGS as paths

    found = {}
    for place, (name, function) in wanted_of(model).items():
        if name not in names or not package(name):
            continue
        theirs = getattr(package(name), function, None)
        if theirs is None and function in paths:
            theirs = getattr(importlib.import_module(f"{name}.{paths[function]}"), function, None)
        if theirs is not None:
            found[place] = theirs
    return found


def wanted_by(function):
    """Package and name of the function that stands for one of transformers' own; None for every other function."""
    for one in unwrapped(function):
        said = inspect.getclosurevars(one).nonlocals if inspect.isfunction(one) else {}
        if said.get("package") in PACKAGES and isinstance(said.get("func_name"), str):
            return said["package"], said["func_name"]
    return None


def unwrapped(function):
    """A function and what it wraps."""
    while function is not None and inspect.isfunction(function):
        yield function
        function = getattr(function, "__wrapped__", None)


@contextmanager
def installed(model, names=()):
    """The model calls the functions of these packages, as where they are installed."""
    if not names:
        yield
        return
    import torch

    for name in names:
        sys.modules[name] = package(name)
    no_card = dict(device=lambda *_: ExitStack(), get_device_properties=lambda *_: SimpleNamespace(multi_processor_count=CARD["multiprocessor_count"]))
    try:
        with ExitStack() as stack:
            stack.enter_context(mock.patch.multiple(torch.cuda, **no_card))
            for (module, own), theirs in functions_of(model, names).items():
                stack.enter_context(mock.patch.object(module, own, with_its_own(theirs)))
            yield
    finally:
        hide()


@contextmanager
def with_multiprocessors(count):
    """Another card."""
    before = CARD["multiprocessor_count"]
    CARD["multiprocessor_count"] = count
    try:
        yield
    finally:
        CARD["multiprocessor_count"] = before


def with_its_own(function):
    """The function with the keywords that it knows, as transformers calls it."""
    known = inspect.signature(function).parameters

    def call(*arguments, **keywords):
        return function(*arguments, **{key: value for key, value in keywords.items() if key in known})

    return call


# Before any class is imported, whichever way a recording begins: transformers looks for packages then.
hide()
