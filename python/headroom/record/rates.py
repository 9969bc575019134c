"""Rates of dropout: which key of a config says the rate of an operator. At none there is no operator."""

import copy

from . import own, sources, vision

# What drops whole layers, and what belongs to heads that no program has.
OTHERS = ("layerdrop", "classifier", "summary")


def keys_of(config):
    """Keys of a config that are rates of dropout. Encoder-decoders have conditions in their place (`sources.conditions`)."""
    if isinstance(config, own.OwnConfig) or vision.has_images(config) or sources.has_source(config):
        return []
    said = sorted(config.to_dict().items())
    is_rate = lambda key, value: "drop" in key and isinstance(value, (int, float)) and not isinstance(value, bool)
    return [key for key, value in said if is_rate(key, value) and not any(part in key for part in OTHERS)]


def with_rates(config, built):
    """The same config with each rate above none and unlike the others: every operator runs, and its rate says whose it is. A rate
    that its class refuses (DiffLlama's of attention) stays as it is. `built`: makes the model of a config."""
    keys = keys_of(config)
    changed = _with(config, keys)
    try:
        built(changed)
        return changed
    except Exception:
        able = []
    for key in keys:
        try:
            built(_with(config, [*able, key]))
            able.append(key)
        except Exception:
            continue
    return _with(config, able)


def _with(config, keys):
    changed = copy.deepcopy(config)
    for i, key in enumerate(keys):
        setattr(changed, key, (8 + i) / 64)
    return changed


def key_of(config, rate):
    """The key that says an operator's rate."""
    if not rate:
        # Most operators have none, and a config takes its time to be a dictionary.
        return None
    return next((key for key in keys_of(config) if getattr(config, key) == rate), None)


def read_by(value):
    """Keys that blocks as data name."""
    if isinstance(value, dict):
        own_keys = {value[key] for key in ("p", "dropout") if isinstance(value.get(key), str)}
        return own_keys.union(*(read_by(item) for item in value.values()))
    if isinstance(value, (list, tuple)):
        return set().union(*(read_by(item) for item in value))
    return set()
