"""Layers that a class runs more than once in a forward, one after the other each time (Dory's recurrent section): in which order, and which
keys of the config say so.
"""

import copy
from itertools import product

import torch

from . import own, variants
from .blocks_data import Unrecordable

# What is in the names of keys that say how often layers run.
REPEATING = ("loop", "recur", "repeat", "pass", "times", "iter")
# Classes of configs of such models.
LOOPED = set()


class Call(int):
    """A call of a layer, as the layer's number; `again`: whether it has run before."""

    def __new__(cls, number, again):
        made = super().__new__(cls, number)
        made.again = again
        return made


def calls_of(order):
    """Layers in the order in which they are called."""
    return [Call(number, number in order[:i]) for i, number in enumerate(order)]


def called(decoder, lists):
    """Of each list of layers, by name, the places of those that one forward of a text calls, in order."""
    made = own.of(decoder)
    if made:
        # Which runs the module by itself once.
        made.calls_of_head()
    calls, handles = {name: [] for name, _ in lists}, []
    for name, listed in lists:
        for i, layer in enumerate(listed):
            handles.append(layer.register_forward_pre_hook(lambda *_, name=name, i=i: calls[name].append(i)))
    try:
        with torch.device("meta"), torch.no_grad():
            if made:
                made.forward(*made.inputs(made.batch, made.length)[:2])
            else:
                decoder(input_ids=torch.zeros(1, 16, dtype=torch.long))
    except Exception:
        # It ends where the head is, or does not run.
        pass
    finally:
        for handle in handles:
            handle.remove()
    return calls


def span(order, count):
    """The first layer that runs again, the one behind the last, and how often they run; None for an order that is not such a one."""
    again = [number for number in range(count) if order.count(number) > 1]
    if not again:
        return None
    first, end, times = again[0], again[-1] + 1, order.count(again[0])
    expected = [*range(first), *(list(range(first, end)) * times), *range(end, count)]
    return (first, end, times) if order == expected else None


def expressions(config, order):
    """What a program says of loops: expressions in the config's keys. `order`: gives the calls of a config's layers."""
    count = variants.layers_in(config)
    of_config = span(order(config), count)
    if of_config is None:
        raise Unrecordable("layers run again in an order that is not known: some of them, one after the other, so many times")
    # Files may say more than the class goes by (Dory's counts each half of a layer).
    said = [key for key, value in config.to_dict().items() if type(value) is int and not key.endswith("_id")]
    values = {key: own for key in said if type(own := variants.value_of(config, key)) is int}
    likely = sorted(values, key=lambda key: (not any(part in key for part in ("loop", "recur", "repeat", "layer", "pass", "start", "end")), key))
    layers = variants.layers_key(config)
    texts = [(key, values[key]) for key in likely] + [(f"{layers} - {key}", count - values[key]) for key in likely if key != layers]
    # What no key says is the same in every config.
    found = [[*(text for text, value in texts if value == wanted), str(wanted)] for wanted in of_config]
    tried = {key for several in found for text in several for key in keys_of(text)}
    for changed in others(config, tried):
        if all(len(several) < 2 for several in found):
            break
        try:
            other = span(order(changed), variants.layers_in(changed))
        except Exception:
            continue
        if other is None:
            continue
        found = [[text for text in several if value_of(changed, text) == wanted] for several, wanted in zip(found, other)]
    if not all(found):
        raise Unrecordable("layers run again, and no key of the config says which, or how often: give it one")
    return {"from": found[0][0], "to": found[1][0], "times": found[2][0]}


def keys_that_repeat(config, order):
    """Keys of a config whose layers run once each that make them run again where they say more than one."""
    found = []
    for key, value in config.to_dict().items():
        if type(value) is not int or value != 1 or not any(part in key for part in REPEATING):
            continue
        try:
            other = order(changed(config, {key: 1}))
        except Exception:
            continue
        if len(set(other)) < len(other):
            found.append(key)
    return found


def keys_of(*texts):
    """The keys that these expressions read."""
    return sorted({part for text in texts for part in text.split(" - ") if not part.isdigit()})


def others(config, keys):
    """Configs with other values of these keys: each by itself, and one more where another is one less."""
    for key in sorted(keys):
        for by in (1, -1):
            yield changed(config, {key: by})
    for one, other in product(sorted(keys), repeat=2):
        if one != other:
            yield changed(config, {one: 1, other: -1})


def changed(config, by):
    made = copy.deepcopy(config)
    for key, step in by.items():
        setattr(made, key, getattr(made, key) + step)
    return made


def value_of(config, text):
    one, _, other = text.partition(" - ")
    number = lambda key: int(key) if key.isdigit() else getattr(config, key)
    return number(one) - (number(other) if other else 0)
