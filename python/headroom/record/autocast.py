"""Regions of a model's code that turn autocast off: what multiplies matrices there does so in the dtype that these have."""

import sys
from contextlib import contextmanager, nullcontext

import torch

from .kernels import current_mode
from .trace import Trace


def prepare():
    """Notes the regions. Once for a process."""
    from transformers.utils import generic

    real = generic.maybe_autocast
    for module in list(sys.modules.values()):
        # One that was imported before has the name for itself.
        if module is not None and module.__name__.startswith("transformers") and getattr(module, "maybe_autocast", None) is real:
            module.maybe_autocast = maybe_autocast
    autocast = torch.amp.autocast_mode.autocast
    enter, leave = autocast.__enter__, autocast.__exit__

    def entered(self):
        count(0 if self._enabled else 1)
        return enter(self)

    def left(self, *raised):
        count(0 if self._enabled else -1)
        return leave(self, *raised)

    autocast.__enter__, autocast.__exit__ = entered, left


def maybe_autocast(device_type, dtype=None, enabled=True, cache_enabled=None):
    """transformers' own, which does nothing where no autocast is on, as in a recording."""
    return nullcontext() if enabled else region()


@contextmanager
def region():
    count(1)
    try:
        yield
    finally:
        count(-1)


def count(more):
    mode = current_mode()
    if isinstance(mode, Trace):
        mode.uncast += more

