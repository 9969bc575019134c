"""Configs with few layers, and with a table of positions that is long enough: what is recorded in place of the whole model."""

import copy

from . import sources, variants, vision
from .blocks_data import Unrecordable
from .features import says_of_layers
from .model import build, decoder_of, layers_of
from .shared import groups

# Tokens of a recording.
LENGTH = 512


def indices(value, count):
    """Whether a value is a list of numbers of layers."""
    numbers = isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    return numbers and len(value) < count and max(value) < count


def fewer_layers(config, least=2):
    """The config with few layers, at least so many and all kinds among them; as it is where layers read what others made."""
    if vision.has_images(config):
        changed = copy.deepcopy(config)
        changed.text_config = fewer_layers(changed.text_config, 6)
        vision.shorten(changed.vision_config)
        return changed
    if sources.has_source(config):
        return sources.fewer_layers(config)
    said = config.to_dict()
    count = variants.layers_in(config)
    if count <= 4 or said.get("num_kv_shared_layers"):
        return config
    lists = {key: value for key, value in said.items() if isinstance(value, (list, tuple)) and len(value) == count}
    begins = [said[key] for key in said if any(part in key for part in ("first", "start", "dense_layers"))]
    begins += [min(value) for value in said.values() if indices(value, count)]
    least = max([least] + [begin + 2 for begin in begins if isinstance(begin, int) and 0 <= begin < count])
    named = [set(value) for value in said.values() if indices(value, count)]
    kinds = [(*(str(value[i]) for value in lists.values()), *(i in layers for layers in named)) for i in range(count)]
    often = lambda some, most: {kind: min(most, some.count(kind)) for kind in set(some)}
    enough = lambda most: (n for n in range(least, min(count, 14)) if often(kinds[:n], most) == often(kinds, most))
    # The first layer of a kind may differ from the others, which a second one shows.
    fewer = next(enough(2), next(enough(1), None))
    if fewer is None:
        return config
    if len(set(kinds)) == 1:
        # What tells layers apart may not stand in a list.
        periods = [value for key, value in said.items() if says_of_layers(config, key) and isinstance(value, int) and 1 < value < 14]
        fewer = max(fewer, min(count, max([5, *periods]) + 1))
    try:
        changed = with_layers(config, fewer)
        own, whole = (groups(model_layers(one)) for one in (changed, config))
        # What several layers have in common is in several of those that are left, too.
        while own < whole and fewer < count:
            fewer += 1
            changed = with_layers(config, fewer)
            own = groups(model_layers(changed))
        return changed
    except Exception:
        return config


def model_layers(config):
    """Its layers; none where no list has as many as the config says."""
    try:
        return layers_of(decoder_of(build(copy.deepcopy(config), "eager")))[1]
    except Unrecordable:
        return []


def long_enough(config):
    """The config with a table of positions for the longest sequence that is recorded."""
    for key in ("max_position_embeddings", "n_positions"):
        rows = None if vision.has_images(config) else variants.value_of(config, key, None)
        if isinstance(rows, int) and 0 < rows < 2 * LENGTH:
            return variants.with_value(config, key, 2 * LENGTH + 16)
    return config


def with_layers(config, count):
    """The config with its first `count` layers."""
    changed, before = copy.deepcopy(config), variants.layers_in(config)
    for key, value in config.to_dict().items():
        if isinstance(value, (list, tuple)) and len(value) == before:
            setattr(changed, key, list(value)[:count])
        elif indices(value, before) and any(part in key for part in ("layer", "block")):
            # Layers that are left out have no number.
            setattr(changed, key, [number for number in value if number < count])
    variants.set_layers(changed, count)
    return changed
