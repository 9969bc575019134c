"""What a program says of a module of the reader's own beside what is recorded of every class: which configs it is for."""

import json

from . import features, own, variants
from .blocks_data import comparable


def added(recorder, program, moved):
    """What a program says of a module of the reader's own beside what is recorded of every class."""
    config = recorder.asked
    kind = type(config)
    calls = own.of(config.made().module).calls_of_head()
    derived = {} if "num_hidden_layers" in kind.defaults else {"num_hidden_layers": kind.layers_key or str(kind.count)}
    said = fixed(recorder, moved)
    if kind.layers_key and not counts_as_recorded(recorder, program):
        recorder.note(f"{kind.layers_key}: which layers are of which kind follows from no key; the program is for {kind.count} layers alone")
        said[kind.layers_key] = {"is": kind.count}
    conditions = [{"key": key, **condition} for key, condition in said.items()]
    return {
        **program,
        "when": program["when"] + [one for one in conditions if one["key"] not in {other["key"] for other in program["when"]}],
        "config": {**kind.defaults, **program["config"], "tie_word_embeddings": calls.ties},
        "derived": {**program["derived"], **derived},
    }


def flags_that_tie(config):
    """Flags of which it depends whether head and token embedding have one weight, with their values."""
    ties = lambda one: one.made().calls_of_head().ties
    found = {}
    for key, value in config.to_dict().items():
        try:
            if isinstance(value, bool) and ties(variants.with_value(config, key, not value)) != ties(config):
                found[key] = value
        except Exception:
            continue
    return found


def without(error, settings, changed, recordings):
    """Leaves out recordings in which a key moves whose sizes no expression gives; gives those keys back, none where it is the batch."""
    names = set(error.names)
    if not names or names & {"b", "s"}:
        return set()
    for i in reversed(range(len(changed))):
        if names & set(changed[i]):
            del settings[i], changed[i], recordings[i]
    return names


def counts_as_recorded(recorder, program):
    """Whether layers of a model that has three more of them are of the kinds that the program's features say."""
    config = recorder.asked
    if type(config).layers_key is None:
        return False
    more = variants.with_value(config, type(config).layers_key, config.num_hidden_layers + 3)

    def kinds(one):
        recording = recorder.one(one, attentions=recorder.attentions[:1])
        layers = recording["said"][recorder.attentions[0]]["layers"]
        calls = recorder.calls(one) or list(layers)
        names = ["|".join(features.value_at(one, feature, i) for feature in program["features"]) for i in calls]
        return {(name, json.dumps(comparable(block, recording["templates"]))) for name, block in zip(names, layers.values())}

    try:
        return kinds(more) <= kinds(config)
    except Exception:
        return False


def fixed(recorder, moved):
    """Keys of which the program is for one value alone, or for those above 0, as another value makes other operators or other sizes that
    no expression says."""
    config = recorder.asked
    conditions = {}
    base = None
    for key, value in config.to_dict().items():
        if key in moved or key in recorder.structural or key in recorder.added or value is None and key.startswith("_"):
            continue
        if base is None:
            base = recorder.one(config)
        same = lambda other: recorder.is_same(base, variants.with_value(config, key, other))
        if isinstance(value, bool):
            free = same(not value)
        elif isinstance(value, (int, float)):
            free = same(0.1 if isinstance(value, float) else 1) if value == 0 else same(value * 2) and same(value / 2)
            if free and value > 0 and not same(type(value)(0)):
                conditions[key] = {"above": 0}
                continue
        else:
            free = False
        if not free:
            conditions[key] = {"is": value}
    return conditions
