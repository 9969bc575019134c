"""Packages whose kernels transformers calls where they are installed: their tensors are recorded, their kernels run nothing.

flash-linear-attention: the delta rule of gated and linear attention. transformers chooses at import
(`integrations/hub_kernels.py`, `use_kernel_func_from_hub_with_fallback`); here both ways are recorded, one after the other.
"""

import importlib
import inspect
import sys
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from unittest import mock

PACKAGE = "fla"

# What an A100 says of itself: which tensors the package makes hardly depends on it.
CARD = dict(max_shared_mem=166912, max_num_regs=65536, multiprocessor_count=108, warpSize=32, sm_clock_rate=1410000, mem_clock_rate=1215000, mem_bus_width=5120)


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


@cache
def package():
    """The package, its kernels launching nothing; None where it is not installed."""
    try:
        import torch
        import triton.runtime.autotuner as autotuner
        import triton.runtime.jit as jit
        from triton.runtime import driver

        driver.set_active(Driver())
        for launcher in (jit.JITFunction, autotuner.Autotuner, autotuner.Heuristics):
            launcher.run = lambda self, *arguments, **keywords: None
        sys.modules.pop(PACKAGE, None)
        with mock.patch.multiple(torch.cuda, get_device_name=lambda *_: "A100", get_device_capability=lambda *_: (8, 0), device_count=lambda: 1):
            return importlib.import_module(PACKAGE)
    except ImportError:
        return None
    finally:
        hide()


def hide():
    """What is imported from here on believes that the package is not installed."""
    sys.modules[PACKAGE] = None


def functions_of(model):
    """Functions of the package that the model's own module would call: (module, name there) -> function."""
    found = {}
    for name in {type(module).__module__ for module in model.modules()}:
        if not name.startswith("transformers.models."):
            continue
        module = sys.modules[name]
        for own, function in vars(module).items():
            wanted = wanted_by(function)
            if wanted and package():
                theirs = getattr(package(), wanted, None) or getattr(importlib.import_module(f"{PACKAGE}.ops"), wanted, None)
                if theirs is not None:
                    found[module, own] = theirs
    return found


def wanted_by(function):
    """The name of the package's function that stands for a function of transformers; None for every other function."""
    for one in unwrapped(function):
        said = inspect.getclosurevars(one).nonlocals if inspect.isfunction(one) else {}
        if said.get("package") == PACKAGE and isinstance(said.get("func_name"), str):
            return said["func_name"]
    return None


def unwrapped(function):
    """A function and what it wraps."""
    while function is not None and inspect.isfunction(function):
        yield function
        function = getattr(function, "__wrapped__", None)


@contextmanager
def installed(model, wanted=True):
    """The model calls the package's functions, as where it is installed."""
    replaced = []
    if wanted:
        sys.modules[PACKAGE] = package()
    for (module, name), theirs in functions_of(model).items() if wanted else ():
        replaced.append((module, name, getattr(module, name)))
        setattr(module, name, with_its_own(theirs))
    try:
        yield
    finally:
        for module, name, own in replaced:
            setattr(module, name, own)
        hide()


def with_its_own(function):
    """The function with the keywords that it knows, as transformers calls it."""
    known = inspect.signature(function).parameters

    def call(*arguments, **keywords):
        return function(*arguments, **{key: value for key, value in keywords.items() if key in known})

    return call
