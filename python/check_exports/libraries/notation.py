"""Values of libraries as Python and as plain data."""

import enum

import torch


def plain(value):
    """`value` as YAML and JSON hold it."""
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, torch.dtype):
        return str(value).removeprefix("torch.")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    return str(value)


def call(name, keywords, first=None):
    """`name(first, key=value, ...)`; what is None is left out."""
    def text(value):
        return f"torch.{plain(value)}" if isinstance(value, torch.dtype) else repr(plain(value))

    words = [repr(first)] if first is not None else []
    words += [f"{key}={text(value)}" for key, value in keywords.items() if value is not None]
    return f"{name}(\n    " + ",\n    ".join(words) + ",\n)"
