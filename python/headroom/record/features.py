"""What tells a model's layers apart: functions of a layer's number and the config."""

from .blocks_data import Unrecordable
from .variants import layers_in, layers_key, value_of


class Alike(Unrecordable):
    """Layers are of several kinds that nothing in the config tells apart."""


def value_at(config, feature, i):
    """The value of a feature for layer i, as a program's `kinds` spell it."""
    if "again" in feature:
        return text(getattr(i, "again", False))
    if "list" in feature:
        return text(value_of(config, feature["list"])[i])
    if "in" in feature:
        return text(i + feature.get("offset", 0) in value_of(config, feature["in"]))
    if "nth" in feature:
        listed, at = list(value_of(config, feature["nth"])), i + feature.get("offset", 0)
        place = listed.index(at) % (max(1, number(config, feature["turns"])) if "turns" in feature else len(listed)) if at in listed else "none"
        return str(place)
    if "repeats" in feature:
        listed = value_of(config, feature["repeats"])
        return text(listed[i % len(listed)])
    if "last" in feature:
        values = value_of(config, feature["last"])
        end = number(config, feature["below"])
        return text(i < end and values[i] not in values[i + 1 : end])
    if "first" in feature:
        return str(i) if i < int(feature["first"]) else "rest"
    if "at" in feature:
        return text(i == number(config, feature["at"]))
    if "below" in feature:
        return text(i < number(config, feature["below"]))
    if "every" in feature:
        begin = number(config, feature["from"]) if "from" in feature else 0
        return text((i - begin + feature["offset"]) % max(1, number(config, feature["every"])) == 0)
    if "chars" in feature:
        return value_of(config, feature["chars"])[i]
    raise KeyError(feature)


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def number(config, key):
    if " - " in key:
        one, _, other = key.rpartition(" - ")
        return number(config, one) - number(config, other)
    if key.isdigit():
        return int(key)
    value = value_of(config, key, None)
    return value if isinstance(value, int) else 0


def candidates(config, count=None):
    """Every feature that this config could have, the plainest first; `count`: layers, where that is not the config's own number."""
    # What a class keeps for itself is in no file.
    values = {key: value for key, value in config.to_dict().items() if not key.startswith("_")}
    for name in ("layer_types", "mlp_layer_types", "layers_block_type"):
        if isinstance(value_of(config, name, None), (list, tuple)):
            values[name] = list(value_of(config, name))
    # What the class goes by, where files count otherwise (Dory's each half of a layer).
    values |= {key: own for key, value in values.items() if type(value) is int and type(own := value_of(config, key, None)) is int}
    of_a_stack = count is not None
    count = count or layers_in(config)
    found = []
    for key, value in sorted(values.items()):
        # Each checkpoint has frequencies of its own: they name no kind.
        if "theta" in key:
            continue
        if isinstance(value, (list, tuple)) and len(value) == count and not is_numbers_of_layers(value) and all(isinstance(v, (str, bool, int, float)) for v in value):
            found.append({"list": key})
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, int) and not isinstance(v, bool) for v in value):
            found.append({"in": key})
        elif isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value) and 1 < len(set(value)) <= len(value) < count and any(part in key for part in ("type", *OF_LAYERS)):
            found.append({"repeats": key})
        elif isinstance(value, str) and len(value) == count and "pattern" in key:
            found.append({"chars": key})
    if not of_a_stack:
        # Layers of one kind that take turns with what they have in common (Zamba 2's transformers).
        places = [f["in"] for f in found if "in" in f]
        counts = [key for key, value in sorted(values.items()) if type(value) is int and value > 1 and "block" in key and not is_width(key)]
        found.extend({"nth": key, "offset": 0, "turns": turns} for key in places for turns in counts if values[turns] < len(values[key]))
    for key in sorted(values):
        begin = key.removesuffix("_period") + "_offset"
        if key.endswith("_period") and begin in values and number(config, key) > 1:
            found.append({"every": key, "offset": 0, "from": begin})
    likely = lambda key: 0 if any(part in key for part in ("first", "start", "dense")) else 1
    for key, value in sorted(values.items(), key=lambda item: (likely(item[0]), item[0])):
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= count and not key.endswith("_id"):
            # The number of layers divides none but the first; a width counts no layers.
            if key in ("num_hidden_layers", "num_blocks", "depth", layers_key(config), getattr(config, "layers_key", None)) or not says_of_layers(config, key):
                continue
            found.append({"below": key})
            if "shared" in key and value:
                before = f"num_hidden_layers - {key}"
                found.append({"below": before})
                found.append({"at": before})
                found.extend({"last": f["list"], "below": before} for f in found if "list" in f)
            # One of as many as there are here is the first alone.
            if 1 < value < count:
                found.extend({"every": key, "offset": offset} for offset in range(value))
    if not of_a_stack:
        found.append({"at": "0"})
        found.append({"at": "num_hidden_layers - 1"})
    if of_a_stack:
        # What the model does between layers shows at the layer that follows.
        places = [f["in"] for f in found if "in" in f]
        found.extend({"in": key, "offset": -1} for key in places)
        found.extend({"nth": key, "offset": offset} for key in places for offset in (-1, 0))
        # What the last layer makes may be read by nothing (LLaVA's `vision_feature_layer` of -2).
        found.extend({"at": f"{key} - 1"} for key in ("depth", "num_hidden_layers") if values.get(key) == count)
    else:
        found.extend({"first": str(first)} for first in (1, 2))
        # The last layer of each kind may leave something for later ones, whether there are any or not (Gemma 4 as of transformers 5.24).
        found.extend({"last": f["list"], "below": layers_key(config)} for f in list(found) if "list" in f)
    return found


# What keys are called that say of a number of layers, or of one in so many.
OF_LAYERS = ("layer", "period", "interval", "step", "freq", "every", "pattern", "first", "start_index", "dense", "shared", "window", "block")


def says_of_layers(config, key):
    """Whether a whole number may say which layers are of which kind, and not how many heads, experts or the like there are. Keys of a
    reader's own module may be called anything."""
    return not is_width(key) and (getattr(config, "is_own", False) or any(part in key for part in OF_LAYERS))


def is_width(key):
    """Whether a key says how many heads, experts or the like there are."""
    of_layers = any(part in key for part in ("layer", "period", "interval", "step", "freq"))
    return not of_layers and any(part in key for part in ("head", "expert", "top_k", "topk", "group", "kernel", "_dim", "rank", "altup", "expand", "channels", "patch", "size"))


# How published files call what transformers calls otherwise (configuration_utils.py `remap_legacy_layer_types`).
LEGACY = {"mamba": "linear_attention", "attention": "full_attention", "deepseek_sparse_attention": "indexed_attention"}


# What checkpoints' files say in place of lists that transformers makes when it reads them, by class and list, and of sizes
# (kimi_linear/configuration_kimi_linear.py `__post_init__`).
PUBLISHED = {
    ("kimi_linear", "layer_types"): {
        "in": "linear_attn_config.full_attn_layers", "offset": 1, "names": {"true": "full_attention", "false": "linear_attention"},
    },
    ("kimi_linear", "mlp_layer_types"): {"below": "first_k_dense_replace", "names": {"true": "dense", "false": "sparse"}},
}
PUBLISHED_SIZES = {
    "kimi_linear": {
        "linear_head_dim": "linear_attn_config.head_dim", "linear_num_heads": "linear_attn_config.num_heads",
        "linear_conv_kernel_dim": "linear_attn_config.short_conv_kernel_size",
    },
}


def with_alternatives(config, feature, said):
    """A list with what stands for it where a config does not have it: whatever tells the layers apart likewise. `said`: keys of a
    config file, the likelier ones."""
    if "list" not in feature:
        return feature
    count = layers_in(config)
    values = [value_at(config, feature, i) for i in range(count)]
    chain = {"list": feature["list"]}
    if feature["list"] in ("layer_types", "layers_block_type"):
        names = {old: new for old, new in LEGACY.items() if new in values}
        if names:
            chain["names"] = names
    published = PUBLISHED.get((config.model_type, feature["list"]))
    if published is not None:
        return {**chain, "else": published}
    others = []
    for other in candidates(config):
        # Which layer is a kind's last hangs on a list, too.
        if other == feature or "last" in other and other["below"] == layers_key(config):
            continue
        forward, back = {}, {}
        for i, value in enumerate(values):
            own = value_at(config, other, i)
            if forward.setdefault(own, value) != value or back.setdefault(value, own) != own:
                break
        else:
            others.append({**other, "names": forward})
    others.sort(key=lambda other: ("chars" in other or "list" in other or "in" in other, any(k in said for k in map(str, other.values()))), reverse=True)
    at = chain
    for other in others[:3]:
        at["else"] = other
        at = other
    return chain


def is_numbers_of_layers(value):
    """Whether a list names layers, each once, and does not say something of each."""
    numbers = all(isinstance(v, int) and not isinstance(v, bool) for v in value)
    return numbers and len(value) > 1 and len(set(value)) == len(value)


def choices(listed, count):
    """Features to try together, the plainest first. In a stack among others the model may hand its first layers something of its own:
    as few of them as can be are told apart by their numbers."""
    from itertools import combinations

    if count is None:
        for size in (1, 2, 3, 4):
            yield from combinations(listed, size)
        return
    plain = lambda feature: 2 if any(key in feature for key in ("list", "in", "chars")) and "offset" not in feature else 3 if "in" in feature else 8
    # Layers that share keys and values: who keeps them, who reads them, and what the model does before the first that reads.
    for last in (f for f in listed if "last" in f):
        sharing = [{"list": last["last"]}, {"below": last["below"]}, {"at": last["below"]}, last]
        yield from ([*sharing, {"first": str(first)}] if first else sharing for first in (0, 1))
    tried = []
    for first in range(min(count - 1, 5)):
        alone = [{"first": str(first)}] if first else []
        for size in (0, 1, 2):
            for chosen in combinations(listed, size):
                if chosen or alone:
                    tried.append((sum(map(plain, chosen)) + (2 + first if first else 0), [*chosen, *alone]))
    yield from (chosen for _, chosen in sorted(tried, key=lambda item: item[0]))


def keys_of(feature):
    """The keys that a feature reads, and those of a period that may stand for it."""
    keys = [feature[k] for k in ("list", "last", "at", "in", "nth", "first", "below", "every", "chars", "repeats") if k in feature][:1]
    while feature is not None:
        if "from" in feature:
            keys += [feature["every"], feature["from"]]
        if "turns" in feature:
            keys.append(feature["turns"])
        feature = feature.get("else")
    return keys


def is_in_file(config, feature):
    """Whether a feature, or what stands for it, reads no list that the class alone makes (RecurrentGemma's `layers_block_type`)."""
    while feature is not None:
        if feature.get("list", "layers") in (*config.to_dict(), "layers"):
            return True
        feature = feature.get("else")
    return False


def by_number(config, of_layer):
    """Every layer by itself, where nothing tells the kinds apart: for as many layers alone."""
    # As files call it.
    key = (getattr(config, "attribute_map", None) or {}).get(layers_key(config), layers_key(config))
    return [{"first": str(len(of_layer))}], {str(i): kind for i, kind in enumerate(of_layer)}, {"key": key, "is": len(of_layer)}


def features_of(config, of_layer, count=None, calls=None, of_loops=None):
    """The fewest features that tell the kinds apart, and the keys that they read. Where layers run again, `calls` are all of them in order,
    `of_loops` what the program says of it."""
    if len(set(of_layer)) == 1:
        return [], []
    listed = candidates(config, None if of_loops else count)
    if of_loops:
        # What the class does before a loop, within and behind it shows at the layers there.
        bounds = [of_loops["from"], f"{of_loops['from']} - 1", of_loops["to"], f"{of_loops['to']} - 1"]
        listed = [{"again": True}, *({"at": bound} for bound in bounds), *listed]
    for chosen in choices(listed, None if of_loops else count):
        names = {}
        if all(names.setdefault("|".join(value_at(config, f, i) for f in chosen), kind) == kind for i, kind in zip(calls or range(len(of_layer)), of_layer)):
            features = [with_alternatives(config, f, ()) for f in chosen]
            if not all(is_in_file(config, f) for f in features):
                continue
            return features, [key for feature in features for key in keys_of(feature)]
    raise Alike("the layers are of several kinds, and nothing in the config says which is which: give it a key or a list that does")
