"""Recordings of one model at several sizes as one program."""

import copy
import json
from dataclasses import replace

import torch

from . import adapters, copies, flags, guard, loops, own, own_program, packages, rates, sources, variants, vision
from .blocks import Recording
from .blocks_data import Unrecordable, comparable
from .derived import aliases_of, derived_of
from .dimensions import Explainer, Unexplained
from .features import Alike, by_number, features_of, value_at
from .head import SOFTCAP, head_of, softcaps, ties, weight_of
from .merge import Writer
from .model import CAST, Called, Run, Size as Batch, build, decoder_of, is_checkpointed, layers_of, prepare, stacks_of
from .outline import attach, blocks_of, outline, with_plain_softmax, without_casts
from .shorter import LENGTH, fewer_layers, long_enough, with_layers
from .templates import Templates

BATCH = 2
# Classes with images that are recorded with fused attention alone: of so many kinds that a file with both would be too large.
FUSED_ALONE = ("gemma4",)
# Classes with which of the ways of packages they are not recorded, by what is in their names: their files would be too large. Where such a
# package is installed, what it runs counts as PyTorch's.
LEFT_OUT = {"qwen3_5_moe": ("conv",), "kimi_linear": ("conv",), "bailing_hybrid": ("conv",), "zamba2": ("conv",)}
# Keys by whose values alone a class is recorded, as others move with them and expressions take those: a program is refused to other values.
ALONE = {"zamba2": ("num_mem_blocks",)}
# Tokens where a class loops over them, and of the recordings that tell whether it does.
FEW_TOKENS, PROBES = 16, (8, 12)
# Why a class refuses PyTorch's kernels: its scores go through tanh.
SCORES_CAP = "attn_logit_softcapping"
# Multiprocessors of other cards.
OTHER_CARDS = (132, 20)

# Attention and dtype of each way in which a block is recorded; with packages that have kernels for it, attention is the class's first.
MODES = {
    "sdpa": ("sdpa", torch.bfloat16), "eager": ("eager", torch.bfloat16), "wide": ("sdpa", torch.float32), "wide_eager": ("eager", torch.float32),
    **{way: (None, torch.bfloat16) for way in packages.WAYS}, **{f"wide_{way}": (None, torch.float32) for way in packages.WAYS},
}


def record(config, model_type=None, class_name=None, note=lambda text: None):
    """The program of a config's causal model, or a list where flags make others; `note` is told what could not be varied."""
    prepare()
    recorder = Recorder(config, class_name, note)
    try:
        program = recorder.program(model_type or config.model_type)
    except Alike:
        if is_stacked(config) or recorder.is_own or recorder.loops:
            raise
        note("which layers are of which kind follows from nothing in the config; the program is for as many layers alone")
        recorder = Recorder(config, class_name, note, by_number=True)
        program = recorder.program(model_type or config.model_type)
    others = []
    for key, value in sorted(recorder.structural.items()):
        try:
            other = Recorder(variants.with_value(config, key, not value), class_name, note, recorder.by_number).program(model_type or config.model_type)
        except Exception as error:
            note(f"{key} {not value}: {type(error).__name__} {error}")
            continue
        if {"key": key, "is": not value} in other["when"]:
            others.append(other)
    return [program, *others] if others else program


class Recorder:
    def __init__(self, config, class_name, note, by_number=False):
        """`by_number`: all layers are recorded, each by its number."""
        built = lambda one: build(copy.deepcopy(one), "eager", class_name)
        self.class_name, self.note = class_name, note
        # What a program says of layers that run again; keys that make them do so in other configs.
        self.once = []
        self.loops = self._loops(config, built)
        if by_number or self.loops and not vision.has_images(config):
            short = config
        else:
            short = fewer_layers(config)
            if self.loops:
                short.text_config = copy.deepcopy(config.text_config)
        self.config = rates.with_rates(long_enough(short), built)
        self.by_number, self.left = by_number, set()
        # What tells the calls of layers that run again apart, and each call's kind.
        self.features, self.names_of_calls = [], None
        self.masked, self.pixels, self.has_run = set(), torch.float32, False
        self.attentions = self._attentions()
        self.is_own = isinstance(config, own.OwnConfig)
        self.length = config.length if self.is_own else FEW_TOKENS if self.loops_over_tokens() else LENGTH

    def _loops(self, config, built):
        """What a program says of layers that run again; None where each runs once."""
        if sources.has_source(config):
            return None
        text = config.text_config if vision.has_images(config) else config

        def order(part):
            whole = copy.deepcopy(config) if text is not config else part
            if text is not config:
                whole.text_config = part
            decoder = decoder_of(built(whole))
            name, listed = layers_of(decoder)
            # ALBERT's one layer has no order of its own: each call is a layer.
            return (listed.order or []) if isinstance(listed, Called) else loops.called(decoder, [(name, listed)])[name]

        try:
            found = order(text)
        except Exception:
            # What is wrong with it is said where it is recorded.
            return None
        if len(set(found)) == len(found):
            self.once = loops.keys_that_repeat(text, order)
            return None
        loops.LOOPED.add(type(text))
        return loops.expressions(text, order)

    def loops_over_tokens(self):
        """Whether each token has operators of its own."""
        if is_stacked(self.config):
            return False
        try:
            counts = []
            for length in PROBES:
                model = build(copy.deepcopy(self.config), MODES[self.attentions[0]][0], self.class_name)
                counts.append(len(Run(model, MODES[self.attentions[0]][0], Batch(BATCH, length, None), False).trace.ops))
        except Exception:
            return False
        return counts[1] - counts[0] >= 2 * (PROBES[1] - PROBES[0])

    def _attentions(self):
        if isinstance(self.config, own.OwnConfig):
            # Its own code says what attention is.
            return ["sdpa"]
        able = []
        # Eager attention of a packed sequence is a loop over its images whose operators nothing says yet.
        alone = vision.has_images(self.config) and (vision.packs(self.config) or self.config.model_type in FUSED_ALONE)
        # Masks of sources and targets, of two lengths, are no values of a program yet.
        alone |= sources.has_source(self.config)
        for attention in ("sdpa",) if alone else ("sdpa", "eager"):
            try:
                build(copy.deepcopy(self.config), attention, self.class_name)
                able.append(attention)
            except ValueError as error:
                if attention == "sdpa" and self.runs_one_kernel():
                    able.append(attention)
                    continue
                self.note(f"{attention}: {str(error).splitlines()[0][:80]}")
        if not able:
            raise Unrecordable("the class runs neither sdpa nor eager attention")
        return able

    def runs_one_kernel(self):
        """Whether a class that refuses PyTorch's own kernels hands attention to those of a package. It calls either through one interface."""
        built = type(build(copy.deepcopy(self.config), "eager", self.class_name))
        if not getattr(built, "_supports_flash_attn", False):
            return False
        owner = next(kind for kind in built.__mro__ if "_supports_sdpa" in vars(kind))
        owner._supports_sdpa = owner.lacks_sdpa = True
        try:
            build(copy.deepcopy(self.config), "sdpa", self.class_name)
        except Exception:
            owner._supports_sdpa = owner.lacks_sdpa = False
            return False
        return True

    def one(self, config, batch=BATCH, length=None, only=None, attentions=None, images=None):
        """Everything of one size: blocks of each attention, and their templates."""
        templates = Templates()
        said = {}
        places = self.places(config, only)
        of_calls = only if places is None else set(places.values())
        for attention in attentions or self.attentions:
            kernel, dtype = MODES[attention]
            kernel = kernel or MODES[self.attentions[0]][0]
            model = build(copy.deepcopy(config), kernel, self.class_name, dtype)
            # A run may take the head away.
            head = None if self.is_own else weight_of(model, config)
            # Backward runs where blocks become data.
            with packages.installed(model, packages.WAYS.get(attention.removeprefix("wide_"), ())):
                size = Batch(batch, length or self.length, images or sample(config, batch), self.pixels)
                try:
                    recording = self.recorded(model, kernel, size, of_calls)
                except RuntimeError as error:
                    if self.is_own or type(config) in CAST or not of_dtypes(error):
                        raise
                    CAST.add(type(config))
                    model = build(copy.deepcopy(config), kernel, self.class_name, dtype)
                    recording = self.recorded(model, kernel, size, of_calls)
                self.has_run = True
                before, layers, after = recording.blocks()
                wanted = range(recording.layers) if only is None else sorted(only)
                said[attention] = {
                    "inputs": recording.inputs(), "holds": recording.holds_input(),
                    "before": before.data(templates), "layers": {i: layers[i if places is None else places[i]].data(templates) for i in wanted}, "after": after.data(templates),
                }
        return {**renumbered({"said": said, "templates": templates.listed}), "head": head}

    def places(self, config, only):
        """Of each call of the config itself that is recorded one of the same kind in another config, where layers run again: how many run
        before it differs."""
        if self.names_of_calls is None or only is None:
            return None
        names = self.named_calls(config)
        return {i: names.index(self.names_of_calls[i]) for i in only}

    def named_calls(self, config):
        """The kind of every call of a layer, as its features say it."""
        return ["|".join(value_at(config, feature, call) for feature in self.features) for call in self.calls(config)]

    def recorded(self, model, attention, size, only):
        try:
            recording = self._recorded(model, attention, size, only)
            if self.has_run or not vision.has_images(self.config) or not vision.is_wide(recording, model):
                return recording
        except RuntimeError as error:
            # A layer that takes no pixels of another dtype.
            if self.has_run or not vision.has_images(self.config) or not of_dtypes(error):
                raise
        # The class does not cast pixels: its processor's are in the model's dtype.
        self.pixels = model.dtype
        return self._recorded(model, attention, replace(size, pixels=self.pixels), only)

    def _recorded(self, model, attention, size, only):
        if attention not in self.masked:
            try:
                return Recording(model, attention, size, only)
            except TypeError:
                # The class reads its mask whatever attention is chosen.
                self.masked.add(attention)
        return Recording(model, attention, size, only, masks=True)

    def program(self, model_type):
        self.asked = self.config
        if is_stacked(self.config):
            # Flags of the text part are its own program's; kinds of an encoder-decoder are recorded by name.
            self.added, self.structural = {}, {}
        else:
            self.config, self.added, self.structural = flags.settle(self)
            if self.is_own:
                self.structural |= own_program.flags_that_tie(self.config)
        first = self.one(self.config, attentions=self.attentions[:1])
        kinds, of_layer = self.kinds(first)
        if not is_stacked(self.config) and not self.by_number:
            # Before everything else runs: what it raises is another recording.
            self.features, _ = features_of(self.config, of_layer, None, self.calls(), self.loops)
            if self.loops:
                self.names_of_calls = self.named_calls(self.config)
        only = set(kinds)
        self.whole = self.config
        self.config = self.shortest(first, kinds)
        self.attentions += self.wide_modes(only)
        base = self.one(self.config, only=only)
        settings, changed, recordings = [self.setting(self.config, BATCH, self.length)], [()], [base]
        moved = self.vary(base, only, settings, changed, recordings)
        while True:
            explainer = Explainer(settings, changed)
            writer = Writer(explainer)
            try:
                merged = writer.merge(recordings)
                break
            except Unexplained as error:
                left = own_program.without(error, settings, changed, recordings)
                if not left:
                    raise
                self.left |= left
                self.note(f"{', '.join(sorted(left))}: sizes follow that no expression gives; the program is for the value in the config alone")
                moved -= left
        copies.rename(merged["said"], self.copies(base, only), lambda shape: writer.shapes[shape][:1] == [writer.named("b")])
        heads = [recording["head"] for recording in recordings]
        weight = {} if None in heads else {"weight": writer.shape(heads)}
        program = self.assemble(model_type, merged, writer, kinds, of_layer, weight)
        return own_program.added(self, program, moved) if self.is_own else program

    def copies(self, base, only):
        """Places of copies that are made of several sequences alone."""
        if is_stacked(self.config):
            # Its first dimension may be images.
            return []
        try:
            found = copies.copies_of_many(base, self.one(self.config, 1, self.length, only))
        except Exception as error:
            found, why = None, f"{type(error).__name__} {str(error).splitlines()[0][:90] if str(error) else ''}"
        else:
            why = "another sequence of operators"
        if found is None:
            self.note(f"b 1: {why}")
        return found or []

    def is_same(self, recording, config):
        """Whether another config gives the same recording, sizes and all."""
        try:
            return self.one(config) == recording
        except Exception:
            return False

    def wide_modes(self, only):
        """Ways in which blocks run in fp32 that differ from what they do in bf16 less its casts."""
        modes = self.kernel_modes()
        for mode, narrow in (("wide", "sdpa"), ("wide_eager", "eager"), *((f"wide_{way}", way) for way in packages.WAYS)):
            if narrow not in [*self.attentions, *modes]:
                continue
            try:
                both = self.one(self.config, only=only, attentions=[narrow, mode])["said"]
            except Exception as error:
                if narrow not in modes:
                    raise
                # A package's function that has more than its tensors say: the class is recorded without it.
                self.note(f"{' and '.join(packages.WAYS[narrow])}: {type(error).__name__} {str(error).splitlines()[0][:90] if str(error) else ''}")
                modes.remove(narrow)
                continue
            pairs = [(one, with_plain_softmax(other, one)) for one, other in zip(blocks_of(both[narrow]), blocks_of(both[mode]))]
            if any(without_casts(one) != without_casts(other) for one, other in pairs):
                modes.append(mode)
        return modes

    def kernel_modes(self):
        """Ways in which the class runs where packages with kernels for it are installed."""
        if self.is_own:
            return []
        ways = packages.ways_of(build(copy.deepcopy(self.config), MODES[self.attentions[0]][0], self.class_name))
        left_out = LEFT_OUT.get(self.config.model_type, ())
        return [way for way in ways if not any(part in way for part in left_out)]

    def kinds(self, recording):
        """One layer of each kind, and of which kind each layer is."""
        main = recording["said"][self.attentions[0]]["layers"]
        texts, kinds, of_layer = [], [], []
        for i, block in main.items():
            text = json.dumps(comparable(block, recording["templates"]))
            if text not in texts:
                texts.append(text)
                kinds.append(i)
            of_layer.append(texts.index(text))
        return kinds, of_layer

    def shortest(self, recording, kinds):
        """The config with no more layers than show every kind, where its blocks stay as they are."""
        count = max(kinds) + 2
        if self.by_number or self.loops or is_stacked(self.config) or count >= variants.layers_in(self.config) or self.config.to_dict().get("num_kv_shared_layers"):
            return self.config
        try:
            config = with_layers(self.config, count)
            short = self.one(config, attentions=self.attentions[:1])
        except Exception:
            return self.config
        same = all(
            comparable(blocks_of(one["said"][self.attentions[0]])[place], one["templates"])
            == comparable(blocks_of(recording["said"][self.attentions[0]])[place], recording["templates"])
            for one, place in [(short, i) for i in (0, *(kind + 1 for kind in kinds), -1)]
        )
        return config if same else self.config

    def setting(self, config, batch, length, images=None):
        of_images = names(config, images or sample(config, batch))
        counted = variants.layers_key(config) if not is_stacked(config) else "num_hidden_layers"
        layers = {"num_hidden_layers": variants.value_of(config, counted, 1)}
        of_card = {packages.MULTIPROCESSORS: packages.CARD["multiprocessor_count"]} if "ssm" in self.attentions else {}
        return {"b": batch, "s": length, **of_images, **of_card, **layers, **variants.sizes_of(config)}

    def vary(self, base, only, settings, changed, recordings):
        shape, own = outline(base), self.attentions[0]
        in_one_way = outline(base["said"][own])
        names = set(settings[0])
        sizes = variants.sizes_of(self.config)

        def attempt(config, batch, length, keys, images=None):
            setting = self.setting(config, batch, length, images)
            if set(setting) != names:
                return False
            if len(self.attentions) > 2 and outline(self.one(config, batch, length, only, self.attentions[:1], images)["said"][own]) != in_one_way:
                # Most values that make another program do so in every way.
                return False
            recording = self.one(config, batch, length, only, images=images)
            if outline(recording) != shape:
                return False
            moved = tuple(name for name in names if setting[name] != settings[0][name])
            settings.append(setting)
            changed.append(moved)
            recordings.append(recording)
            return True

        for batch, length in ((3, self.length), (BATCH, 2 * self.length), (BATCH, self.length + self.length // 2)):
            try:
                if not attempt(self.config, batch, length, ("b", "s")):
                    self.note(f"b {batch}, s {length}: another sequence of operators")
            except Exception as error:
                self.note(f"b {batch}, s {length}: {type(error).__name__} {str(error).splitlines()[0][:90] if str(error) else ''}")
        if vision.has_images(self.config):
            self.vary_images(attempt)
        if sources.has_source(self.config) and not attempt(self.config, BATCH, self.length, (sources.NAME,), 2 * sources.LENGTH):
            raise Unrecordable("sources of another length: another sequence of operators")
        if packages.MULTIPROCESSORS in names:
            for count in OTHER_CARDS:
                with packages.with_multiprocessors(count):
                    attempt(self.config, BATCH, self.length, (packages.MULTIPROCESSORS,))
        # Tables that have a row or a column for each layer.
        try:
            attempt(variants.with_more_layers(self.config), BATCH, self.length, ("num_hidden_layers", "num_kv_shared_layers"))
        except Exception as error:
            self.note(f"more layers: {type(error).__name__} {str(error).splitlines()[0][:90] if str(error) else ''}")
        moved = set()
        for key, value in sizes.items():
            if self.try_values(key, value, sizes, attempt):
                moved.add(key)
        for group in variants.TOGETHER:
            keys = [key.removesuffix(variants.HALF) for key in group]
            if not all(key in sizes for key in keys) or all(key in moved for key in keys):
                continue
            try:
                if attempt(variants.moved_together(self.config, group, sizes), BATCH, self.length, keys):
                    moved.update(keys)
            except Exception:
                continue
        self.try_pairs(sizes, moved, attempt)
        left = [key for key in sizes if key not in moved]
        if left:
            self.note("not varied: " + ", ".join(left))
        return moved

    def vary_images(self, attempt):
        """More images, and larger ones, where the class takes them in any size."""
        for images in vision.others(self.config):
            if not attempt(self.config, BATCH, self.length, ("images.count", "images.patches"), images):
                # Sizes would be taken to be those of this many images.
                raise Unrecordable(f"images {images}: another sequence of operators")

    def try_pairs(self, sizes, moved, attempt):
        """What changes with another key alone, which nothing here knows: those left over with each other, then with any."""
        if self.is_own or is_stacked(self.config):
            return
        left = [key for key in sizes if key not in moved]
        for key in left:
            others = [other for other in left if other != key] + [other for other in sizes if other not in left]
            for other in others:
                if key in moved:
                    break
                try:
                    config = variants.with_value(variants.with_value(self.config, key, sizes[key] * 2), other, sizes[other] * 2)
                    # Most pairs are no model.
                    build(copy.deepcopy(config), MODES[self.attentions[0]][0], self.class_name)
                    if attempt(config, BATCH, self.length, (key, other)):
                        moved.update((key, other))
                except Exception:
                    continue

    def try_values(self, key, value, sizes, attempt):
        # Of a reader's own class nothing is known: what is made of one other value is checked by more of them.
        wanted, found = (3 if self.is_own else 1), 0
        for other in variants.candidates(key, value, sizes):
            try:
                found += attempt(variants.with_value(self.config, key, other), BATCH, self.length, (key,))
            except Exception:
                continue
            if found == wanted:
                break
        return found > 0

    def assemble(self, model_type, merged, writer, kinds, of_layer, weight):
        import transformers

        main = merged["said"][self.attentions[0]]
        layers = []
        flags.mark(main["before"], "before", self.added)
        flags.mark(main["after"], "after", self.added)
        for kind in kinds:
            block = main["layers"][kind]
            flags.mark(block, f"layer {kind}", self.added)
            attach(block, {mode: merged["said"][mode]["layers"][kind] for mode in self.attentions[1:]})
            layers.append(block)
        before = main["before"]
        attach(before, {mode: merged["said"][mode]["before"] for mode in self.attentions[1:]})
        stacks, names = self.stacks(of_layer, kinds)
        read = {name for name in writer.names_read() if not name.startswith(("images.", "gpu.")) and name != sources.NAME}
        sizes = variants.sizes_of(self.config)
        # Their own attention runs here, outside of a recording: of those that refuse PyTorch's kernels the other.
        model = build(copy.deepcopy(self.config), MODES[self.attentions[0]][0], self.class_name)
        attention = self.attentions[-1 if getattr(type(model), "lacks_sdpa", False) else 0]
        built = lambda config: build(copy.deepcopy(config), MODES[attention][0], self.class_name)
        model = built(self.config)
        of_whole = whole_with(self.config, self.class_name)
        whole = of_whole(self.config) if of_whole else model
        head = {**head_of(whole), "softcaps": softcaps(whole, self.config, of_whole or built), **weight}
        if not self.is_own and not is_stacked(self.config):
            head |= ties(self.config, built)
        for key in self.added:
            # It adds the head's bias, too.
            if head["bias"] is True and not head_of(built(variants.with_value(self.config, key, False)))["bias"]:
                head["bias"] = key
        keys = set(self.added) | set(self.structural) | set(self.once) | ({SOFTCAP} if head["softcaps"] == SOFTCAP else set())
        keys |= rates.read_by(merged["said"])
        if hasattr(self.config, SCORES_CAP) and getattr(type(model), "lacks_sdpa", False):
            keys.add(SCORES_CAP)
        counts = flags.counts_of(self.config.text_config if vision.has_images(self.config) else self.config)
        of_kind = self.conditions_of_kind()
        counts = of_kind + counts
        keys |= {condition["key"] for condition in counts}
        if sources.has_source(self.config):
            counts, of_counts = sources.conditions(self.config)
            keys |= set(of_counts)
        if not self.is_own:
            # Whose sizes no expression says: the program is for what they are here.
            counts = counts + [{"key": key, "is": variants.value_of(self.config, key)} for key in sorted(self.left) if key in sizes]
            counts = counts + [{"key": key, "is": variants.value_of(self.config, key)} for key in ALONE.get(self.config.model_type, ())]
            counts = counts + ([by_number(self.whole, of_layer)[2]] if self.by_number else [])
            keys |= {condition["key"] for condition in counts}
        others, of_others = ([], {}) if self.is_own else guard.conditions(self.config, self.class_name, read | set(names) | keys)
        # What tells kinds apart by not being there has no default.
        defaults = {**self.defaults((read | set(names) | keys) - {one["key"] for one in of_kind}, sizes), **of_others}
        derived = derived_of(self.config, read | set(names) if sources.has_source(self.config) else read)
        # In an order in which files of several programs compress well.
        return {
            "model_type": model_type,
            "class": type(model).__name__,
            **aliases_of(self.config, read | set(names) | keys | {condition["key"] for condition in others}),
            # A number is what the class takes a key to be, which is said once.
            "derived": {key: text for key, text in derived.items() if str(defaults.get(key)) != text},
            "when": [{"key": key, "is": value} for key, value in sorted(self.structural.items())] + counts + others
            + [{"key": key, "is": 1} for key in self.once],
            **({"holds": True} if main["holds"] else {}),
            **({"sdpa": False} if getattr(type(model), "lacks_sdpa", False) else {}),
            **stacks,
            **({"packs": vision.packs(self.config)} if vision.has_images(self.config) else {}),
            **(sources.facts(model) if sources.has_source(self.config) else {}),
            **adapters.facts(model_type),
            "config": defaults,
            "versions": {"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0]},
            "head": head,
            **({"inputs": main["inputs"]} if is_stacked(self.config) else {}),
            "dims": writer.dims,
            "shapes": writer.shapes,
            "layers": layers,
            "before": before,
            "after": main["after"],
            "backwards": merged["templates"],
        }

    def conditions_of_kind(self):
        """Conditions on keys that have no default in a program."""
        if hasattr(self.config, "conditions"):
            return self.config.conditions()
        return [] if self.is_own or is_stacked(self.config) else flags.kinds_of(self.config)

    def calls(self, config=None):
        """Every call of a layer of text in order, where some run again."""
        if not self.loops:
            return None
        built = build(copy.deepcopy(config or self.config), MODES[self.attentions[0]][0], self.class_name)
        return loops.calls_of(layers_of(decoder_of(built))[1].order)

    def stacks(self, of_layer, kinds):
        """What tells the layers apart, stack by stack where there are several, and the keys that are read for it."""
        calls = self.calls()
        again = {"loops": self.loops} if self.loops else {}
        of_loops = loops.keys_of(*self.loops.values()) if self.loops else []
        if not is_stacked(self.config):
            if self.by_number:
                features, kinds, _ = by_number(self.whole, of_layer)
                return {"features": features, "kinds": kinds}, []
            features, names = features_of(self.whole, of_layer, None, calls, self.loops)
            return {"features": features, "kinds": kind_names(self.whole, features, of_layer, calls), **again}, [*names, *of_loops]
        model = build(copy.deepcopy(self.config), MODES[self.attentions[0]][0], self.class_name)
        lists = stacks_of(decoder_of(model))
        listed, read, at = [], set(), 0
        for i, (name, layers) in enumerate(lists):
            of_stack = of_layer[at : at + len(layers)]
            at += len(layers)
            is_text = i == len(lists) - 1
            reads_source = sources.has_source(self.config)
            part = self.config if reads_source else self.config.text_config if is_text else self.config.vision_config
            of_calls = (calls, self.loops) if is_text else (None, None)
            features, names = features_of(part, of_stack, len(layers), *of_calls)
            kinds_of_stack = kind_names(part, features, of_stack, of_calls[0])
            stack = {"part": "language_model" if is_text else "vision_tower", "name": name, "kinds": kinds_of_stack}
            if reads_source:
                stack["part"] = "language_model"
                stack["count"] = sources.key_of(part, sources.OF_DECODER if is_text else sources.OF_ENCODER)
                stack["features"] = features
                read |= {*names, stack["count"]}
            elif is_text:
                stack |= {"features": features, **again}
                read |= {*names, *of_loops}
            else:
                key = next((key for key in ("depth", "num_hidden_layers", "num_global_layers") if getattr(part, key, None) == len(layers)), None)
                stack["count"] = f"vision_config.{key}" if key else str(len(layers))
                if not is_checkpointed(layers):
                    stack["checkpoints"] = False
                stack["features"] = [within(feature, "vision_config") for feature in features]
                read |= {f"vision_config.{name}" for name in names} | ({stack["count"]} if key else set())
            listed.append(stack)
        return {"stacks": listed}, read

    def defaults(self, names, sizes):
        """What the class takes keys to be."""
        try:
            default = type(self.config)()
        except Exception:
            return {}
        # How many layers there are is read by nothing in the program.
        counts = set() if is_stacked(self.config) else {variants.layers_key(self.config)}
        said = {}
        for name in sorted(names | counts):
            value = variants.value_of(default, name, None)
            # A list with nothing in it names no layer.
            if isinstance(value, (int, float, str, bool)) or value == []:
                said[name] = value
        for name in ("tie_word_embeddings",):
            value = getattr(whole_of(self.config, self.class_name) or default, name, None)
            if isinstance(value, bool):
                said[name] = value
        return said


def of_dtypes(error):
    """Whether an operator was given tensors of several dtypes: a matmul, or a convolution."""
    return "same dtype" in str(error) or "should be the same" in str(error)


def is_stacked(config):
    """Whether a model has several lists of layers that run one after the other."""
    return vision.has_images(config) or sources.has_source(config)


def whole_of(config, class_name):
    """The config around that of a text part, where what is recorded is the part alone: the head is the whole class's, which says whether
    it is the token embedding."""
    from transformers import CONFIG_MAPPING

    if not str(class_name).endswith("TextModel"):
        return None
    for kind in CONFIG_MAPPING.values():
        part = (getattr(kind, "sub_configs", None) or {}).get("text_config")
        if part is type(config):
            return kind()
    return None


def whole_with(config, class_name):
    """What builds the class around a text part of such a config, which has the head; None where what is recorded is no part, or where
    that class does not build."""
    from transformers import AutoModelForImageTextToText as Auto

    whole = whole_of(config, class_name)
    if whole is None or type(whole) not in Auto._model_mapping:
        return None

    def built(part):
        changed = copy.deepcopy(whole)
        changed.text_config = copy.deepcopy(part)
        return build(changed, "eager", Auto._model_mapping[type(whole)].__name__)

    try:
        vision.shorten(whole.vision_config)
        head_of(built(config))
    except Exception:
        return None
    return built


def sample(config, batch):
    """The images of a recording, or the tokens of a source."""
    return sources.LENGTH if sources.has_source(config) else vision.sample(config, batch)


def names(config, images):
    """What the program's names of these are in a recording."""
    if sources.has_source(config):
        return {sources.NAME: images}
    return vision.names(config, images) if vision.has_images(config) else {}


def joined(programs, more):
    """Programs of one class for configs of several kinds; of those for one kind the latest."""
    listed = lambda one: one if isinstance(one, list) else [one]
    new = listed(more)
    kept = [one for one in listed(programs) if all(one["when"] != other["when"] for other in new)]
    both = kept + new
    return both if len(both) > 1 else both[0]


def renumbered(recording):
    """Templates that are used, in the order of their use: what was folded away leaves none."""
    used = {}

    def visit(value):
        if isinstance(value, dict):
            if isinstance(value.get("n"), list):
                value["n"][2] = used.setdefault(value["n"][2], len(used))
            for item in value.values():
                visit(item)
        elif isinstance(value, list):
            for item in value:
                visit(item)

    visit(recording["said"])
    return {"said": recording["said"], "templates": [recording["templates"][i] for i in used]}


def within(feature, parent):
    """A feature of a part of a config, as the whole config says it."""
    keys = ("list", "in", "below", "last", "at", "every", "from", "chars", "nth")
    said = {key: f"{parent}.{value}" if key in keys and not str(value).isdigit() else value for key, value in feature.items()}
    if "else" in said:
        said["else"] = within(said["else"], parent)
    return said


def kind_names(config, features, of_layer, calls=None):
    from .features import value_at

    names = {}
    for i, kind in zip(calls or range(len(of_layer)), of_layer):
        name = "|".join(value_at(config, feature, i) for feature in features)
        if names.setdefault(name, kind) != kind:
            raise Unrecordable(f"layers {i} and another are told apart by nothing in the config")
    return names
