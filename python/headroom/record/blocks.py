"""A model's trace as blocks of a program, sizes still as numbers: `Size` for a dimension, `Sizes` for a shape."""

import torch
from torch import nn

from . import own, rates, sources, vision
from .blocks_data import Size, Sizes, Unrecordable
from .fold import fold
from .joins import join_pieces, join_splits, of_one_gradient
from .model import LINEAR_BY_HAND, EndsHere, Run, distinct, stacks_of
from .nodes import attach, changes_view, copies_slices, describe, dtype_code, exact_code, gradients, saved_tensors, template_of, with_shapes
from .shared import Users, in_common
from .trace import key_of

# Under which name a layer gives what only its caller holds.
OUTPUTS = "outputs"


class Recording:
    """Both runs of a model, operator by operator side by side."""

    def __init__(self, model, attention, size, only=None, masks=False):
        self.plain = Run(model, attention, size, False, masks)
        stacks = stacks_of(self.plain.decoder)
        layers, self.loops = distinct(stacks), any(getattr(listed, "order", None) for _, listed in stacks)
        self.common = None
        if in_common(layers):
            self.common = Users(self.plain, layers)
            self.plain = Run(model, attention, size, False, masks, self.common)
        self.graph = Run(model, attention, size, True, masks, self.common)
        attach(self.graph)
        for run in (self.plain, self.graph):
            run.trace.ops = join_splits(join_pieces(run.trace.ops))
        self.pairs, self.clones = align(self.plain.trace.ops, self.graph.trace.ops)
        complete(self.plain.trace, self.graph.trace, self.pairs, {key_of(one): one for one in self.plain.decoder.parameters()})
        self.begin_first_layer()
        self.trace = self.plain.trace
        # Of each value its operator and which of its outputs it is: numbers that values had of their operators are those before joining.
        self.made_by = {n: (op, k) for op in self.trace.ops for k, n in enumerate(op.outputs)}
        self.decoder = self.plain.decoder
        self.modules = modules_of(self.decoder)
        self.layers = len(self.plain.exits)
        self.only = only
        self.scope = {}
        self.places, self.freed, self.without_gradient, self.lists = {}, None, None, None
        twins = [self.pairs[i] for i, op in enumerate(self.trace.ops) if self.wants(op.block)]
        nodes = [node for twin in twins for node in (twin.node, twin.view_node) if node is not None]
        self.received = gradients(self.graph, nodes)

    def begin_first_layer(self):
        """What the model's own loop runs before each layer, it runs before the first one, too."""
        ops = self.plain.trace.ops
        second = [op.name for op in ops if op.block == ("between", 1)]
        before = [i for i, op in enumerate(ops) if op.block == "before"]
        if not second or [ops[i].name for i in before[-len(second) :]] != second:
            return
        for i in before[-len(second) :]:
            for op in (ops[i], self.pairs[i]):
                op.block = ("between", 0)
                op.freed = [(number, ("between", 0)) for number, _ in op.freed]

    def beside(self, name):
        """The list that a module is in, where the model keeps parts of its layers in lists beside that of its layers (XLM's)."""
        if self.lists is None:
            stack = self.plain.stacks[-1]
            alike = lambda one, module: isinstance(module, nn.ModuleList) and len(module) == self.layers and one.rpartition(".")[0] == stack.rpartition(".")[0]
            self.lists = [one for one, module in self.decoder.named_modules() if one != stack and alike(one, module)]
        return next((one for one in self.lists if name.startswith(f"{one}.")), None)

    def inputs(self):
        """What a batch has beside token ids: shape and dtype by name."""
        return {name: [Sizes(tensor.shape), dtype_of(tensor)] for name, tensor in self.plain.inputs.items()}

    def freed_between(self):
        """Values that Python gives back before what runs behind the last layer."""
        if self.freed is None:
            # With layers before its head, a class gives back what its decoder has held as that returns.
            self.freed = {n for op in self.trace.ops for n, block in op.freed if owner(block) != "after"}
        return self.freed

    def holds_input(self):
        """Whether what the text's first layer reads is held until the model's forward ends: by a name of its own there, as
        `inputs_embeds` is of most classes."""
        stacks = self.plain.stacks
        first = next(i for i, prefix in enumerate(self.plain.prefixes) if prefix.startswith(f"{stacks[-1]}."))
        return self.plain.entries.get(first) not in self.freed_between()

    def wants(self, block):
        """Whether backward templates of a block are asked for."""
        index = block[1] if isinstance(block, tuple) else block
        return self.only is None or not isinstance(index, int) or index in self.only

    def unreached(self):
        """Names of parameters that the forward reads and that no gradient reaches: it reads them without a graph, or makes of them what
        nothing reads. So are those of layers that it does not call."""
        if self.without_gradient is None:
            read = {value.origin[1] for value in self.trace.values if value.origin[0] == "parameter"}
            for op in self.trace.ops:
                if op.name == "linear":
                    read |= {f"{op.module}.{own}" for own, _ in self.modules[op.module].named_parameters(recurse=False)}
            skipped = tuple(self.plain.prefixes[i] for i in self.plain.skipped)
            # Of a text alone nothing else runs what its forward does not (TrOCR's attention to an image).
            is_alone = not own.of(self.decoder) and not sources.has_source(self.decoder.config) and not vision.has_images(self.decoder.config)
            of_text = self.plain.prefixes if is_alone and not self.common else ()
            named = [(name, one.requires_grad) for name, one in self.decoder.named_parameters()]
            read |= {name for name, trains in named if name.startswith(skipped) or trains and name.startswith(tuple(of_text))}
            self.without_gradient = read - reached(self.graph)
        return self.without_gradient

    def places_of(self, name):
        """Blocks of the operators that a module runs, or that read its parameters, in order."""
        if not self.places:
            for op in self.trace.ops:
                names = {self.trace.values[n].origin[1].rpartition(".")[0] for n in op.inputs if self.trace.values[n].origin[0] in ("parameter", "buffer")}
                for one in names | {op.module}:
                    self.places.setdefault(one, []).append(op.block)
        return self.places.get(name, [])

    # -- names of values that cross blocks

    def users(self):
        """For each value the blocks that read it."""
        readers = {}
        for op in self.trace.ops:
            for number in op.inputs:
                readers.setdefault(number, set()).add(owner(op.block))
        return readers

    def blocks(self):
        """before, layers, after."""
        readers = self.users()
        before = Block(self, "before", "", readers)
        layers = [Block(self, i, self.plain.prefixes[i], readers) for i in range(self.layers)]
        after = Block(self, "after", "", readers)
        return before, layers, after


def modules_of(decoder):
    """The decoder's modules by name; the embedding of tokens comes before other tables (CPM-Ant's of segments). Of a model of the reader's
    own, which is all in one, the head is left out."""
    modules = dict(decoder.named_modules())
    made = own.of(decoder)
    if made is None:
        tokens = token_embedding(decoder)
        first = next((module for module in modules.values() if isinstance(module, nn.Embedding)), tokens)
        if first is tokens:
            return modules
        return dict(sorted(modules.items(), key=lambda item: item[1] is not tokens))
    head = made.calls_of_head()
    return dict(sorted(((name, module) for name, module in modules.items() if module is not head.module), key=lambda item: item[1] is not head.embedding))


def token_embedding(decoder):
    """The module that embeds tokens, where the class says it."""
    try:
        found = decoder.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        return None
    return found if any(found is module for module in decoder.modules()) else None


def reached(run):
    """Names of parameters to which the graph of a run's output leads."""
    found, seen = set(), set()
    open_nodes = [run.output.grad_fn]
    while open_nodes:
        node = open_nodes.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        open_nodes += [following for following, _ in node.next_functions]
        variable = getattr(node, "variable", None)
        if variable is not None and id(variable) in run.trace.names:
            found.add(run.trace.names[id(variable)][1])
    return found


def owner(block):
    """Operators between two layers belong to the one that follows."""
    return block[1] if isinstance(block, tuple) else block


def align(plain, graph):
    """For each operator of the run without a graph the one with it. With a graph, outputs that are saved are detached, and what an
    operator overwrites and its backward reads is cloned before."""
    pairs, clones, at = [], {}, 0
    for i, op in enumerate(plain):
        while at < len(graph) and graph[at].name in ("detach", "clone") and (graph[at].name, graph[at].block) != (op.name, op.block):
            if graph[at].name == "clone":
                clones[i] = graph[at]
            at += 1
        if at >= len(graph) or graph[at].name != op.name:
            found = graph[at].name if at < len(graph) else "nothing"
            raise Unrecordable(f"with a graph the model runs {found} where it runs {op.name} without one")
        pairs.append(graph[at])
        at += 1
    return pairs, clones


def complete(plain, graph, pairs, leaves):
    """A function of Python runs several operators; the last carries its node, and reads all that the node saves or leads to."""
    twin_of = {}
    for op, twin in zip(plain.ops, pairs):
        twin_of.update(zip(twin.outputs, op.outputs))
    at = {kind: number for kind, number in plain.known.items()}
    by_key, by_source = {}, {}
    for op, twin in zip(plain.ops, pairs):
        for number, key in [*zip(twin.inputs, twin.input_keys), *zip(twin.outputs, twin.output_keys)]:
            by_key[key] = number
            source = graph.values[number].source
            if source and source[0] is not None:
                by_source[source] = number
        if twin.node is None or not hasattr(twin.node, "saved_tensors"):
            continue
        variables = [getattr(function, "variable", None) for function, _ in twin.node.next_functions]
        for tensor in [*saved_tensors(twin.node), *variables]:
            # A parameter that no operator of it reads.
            leaf = None if tensor is None else leaves.get(key_of(tensor))
            if leaf is not None and key_of(leaf) not in by_key:
                by_key[key_of(leaf)] = graph.number_of(leaf)
                at[graph.values[by_key[key_of(leaf)]].origin] = plain.number_of(leaf)
        wanted = [by_key.get(key_of(tensor)) for tensor in saved_tensors(twin.node)]
        wanted += [by_source.get(source) for source in twin.node.next_functions]
        wanted += [by_key.get(key_of(variable)) for variable in variables if variable is not None]
        for number in wanted:
            own = number if number is None else twin_of.get(number, at.get(graph.values[number].origin))
            if own is None or number in twin.inputs or number in twin.outputs:
                continue
            twin.inputs.append(number)
            twin.input_keys.append(next(key for key, other in by_key.items() if other == number))
            op.inputs.append(own)


class Block:
    """One block as nested lists."""

    def __init__(self, recording, place, prefix, readers):
        self.recording, self.place, self.prefix = recording, place, prefix
        self.trace = recording.trace
        self.local = {}
        self.takes = []
        self.modules, self.parameters = self.list_modules()
        self.module_at = {entry[0]: i for i, entry in enumerate(self.modules)}
        run = recording.plain
        if place == "before":
            self.first, self.last = None, run.entries[0]
        elif place == "after":
            self.first, self.last = run.exits[recording.layers - 1], run.hidden
        else:
            self.first, self.last = run.entries[place], run.exits[place]
        indices = [i for i, op in enumerate(self.trace.ops) if owner(op.block) == place]
        self.pre = [i for i in indices if isinstance(self.trace.ops[i].block, tuple)]
        self.ops_at = [i for i in indices if not isinstance(self.trace.ops[i].block, tuple)]
        self.made = {n for i in indices for n in self.trace.ops[i].outputs}
        # What the layer is called with, where operators before it make that.
        self.enters = None
        if self.first in self.made:
            self.enters, self.first = self.first, run.exits.get(place - 1, run.entries.get(place - 1))
        if place == "after":
            self.enters = run.decoded
        before = run.exits.get(place - 1) if isinstance(place, int) else None
        if before is not None and self.enters is None and self.first != before:
            # It is called with what was made before the layers before it.
            self.enters, self.first = self.first, before
        if self.first is not None:
            self.take(self.first, "hidden_states")
        # What is taken has the first numbers.
        if self.enters is not None and self.enters not in self.made:
            self.find(self.enters)
        for i in indices:
            for number in self.trace.ops[i].inputs:
                self.find(number)
        for number in self.left_by_encoder(indices):
            self.find(number)
        for block, (kind, number) in self.trace.likes:
            # A dtype of what another block has given, which is held until the forward ends.
            if owner(block) == place and kind == "value" and number not in self.made and number in recording.scope:
                self.find(number)
        for i in indices:
            if i in self.recording.clones:
                self.local[("clone", i)] = len(self.local)
            if self.recording.pairs[i].view_node is not None:
                view, base = self.trace.ops[i].outputs
                self.local[("changed", i)] = len(self.local)
                self.local[base] = len(self.local)
                self.local[view] = len(self.local)
                continue
            for number in self.trace.ops[i].outputs:
                self.local.setdefault(number, len(self.local))
        self.given = self.gives(readers)

    def left_by_encoder(self, indices):
        """What an encoder's forward has held until it returned, which operators of the decoder's first block see go."""
        if own.of(self.recording.decoder) or not sources.has_source(self.recording.decoder.config) or not self.joins_stacks():
            return []
        freed = (number for i in indices for number, block in self.trace.ops[i].freed if owner(block) == self.place)
        return [n for n in freed if n not in self.local and n not in self.made and self.trace.values[n].origin[0] == "op"]

    def list_modules(self):
        """Every module below the prefix with parameters or buffers of its own, and each parameter's number."""
        listed, parameters = [], {}
        of_head = [id(bias) for module in self.recording.plain.decoder.modules() if isinstance(module, EndsHere) for bias in module.bias if bias is not None]
        stacks = tuple(f"{name}." for name in self.recording.plain.stacks)
        users = self.recording.common
        is_shared = lambda name: users is not None and users.is_shared(name)
        moved = {name: users.home(name) for name in self.recording.modules} if users is not None else {}
        self.moved = {name: users.alike(name) for name, home in moved.items() if home == self.place}
        lies_here = lambda name: bool(self.prefix) and f"{name}.".startswith(self.prefix)
        is_tied = lambda name: users is not None and name in users.tied and lies_here(name)
        is_own = lambda name: is_tied(name) or not is_shared(name) and (lies_here(name) if moved.get(name) is None else name in self.moved)
        # Its own first: so they have the same numbers in every layer.
        for name, module in sorted(self.recording.modules.items(), key=lambda item: (not is_own(item[0]), item[0] in self.moved)):
            if is_tied(name):
                listed.append([self.short(name), class_of(module), users.tied_entries(module)])
                continue
            belongs = is_own(name) or not f"{name}.".startswith(stacks) and self.used_here(name)
            if not belongs and not (is_shared(name) and self.place == "before"):
                continue
            own = []
            for kind, tensors in (("parameter", module.named_parameters(recurse=False)), ("buffer", module.named_buffers(recurse=False))):
                for own_name, tensor in tensors:
                    if id(tensor) in of_head:
                        # Which has it (modeling_bert.py `BertLMPredictionHead`).
                        continue
                    entry = [own_name, Sizes(tensor.shape)]
                    code = dtype_of(tensor)
                    if code != "h" or kind == "buffer":
                        entry.append(code)
                    if kind == "buffer":
                        entry.append("buffer")
                    elif not tensor.requires_grad:
                        entry.append("frozen")
                    full = f"{name}.{own_name}" if name else own_name
                    if self.trace.names.get(id(tensor), (kind, full)) != (kind, full):
                        # Tied to another module's.
                        continue
                    if full in self.recording.unreached():
                        entry.append("unreached")
                    parameters[(kind, full)] = -1 - len(parameters)
                    own.append(entry)
            if own:
                # No module runs a shared weight where it stands: layers have modules of their own around it, or run operators on it.
                kind = f"Shared{class_of(module)}" if is_shared(name) else class_of(module)
                listed.append([self.short(name), kind, own])
        return listed, parameters

    def short(self, name):
        """A module's name within its layer; in full where it lies outside."""
        if name in self.moved:
            return self.moved[name]
        beside = self.recording.beside(name) if isinstance(self.place, int) else None
        if beside is not None:
            # The same in every layer.
            return f"{beside}{name[len(beside):].lstrip('.').lstrip('0123456789')}"
        return name[len(self.prefix):] if f"{name}.".startswith(self.prefix) else name

    def used_here(self, name):
        """Whether a module outside the layers belongs to this block: it is run here first, or here alone between two layers."""
        places = self.recording.places_of(name)
        if not places:
            return self.place == "before"
        has_a_place = len(self.recording.plain.stacks) > 1 or self.recording.beside(name) is not None
        # A layer that runs again has the same modules then.
        alone = len(set(map(owner, places))) == 1 and isinstance(places[0], tuple) and has_a_place and not self.recording.loops
        first = owner(places[0])
        if isinstance(self.place, int):
            return alone and first == self.place
        return not alone and (first == self.place or (isinstance(first, int) and self.place == "before"))

    def take(self, number, name):
        if number not in self.local:
            self.local[number] = len(self.local)
            self.takes.append(name)

    def find(self, number):
        """The local number of a value that an operator reads."""
        if number in self.local:
            return self.local[number]
        value = self.trace.values[number]
        kind = value.origin[0]
        if kind in ("parameter", "buffer") and value.origin in self.parameters:
            return self.parameters[value.origin]
        if number in self.made:
            return None
        if kind == "input":
            self.take(number, value.origin[1])
        elif kind in ("parameter", "buffer"):
            self.take(number, f"{kind}:{value.origin[1]}")
        else:
            self.take(number, self.recording.scope.setdefault(number, f"g{len(self.recording.scope)}"))
        return self.local[number]

    def gives(self, readers):
        """What other blocks read, or what Python holds until the forward ends."""
        given = {"hidden_states": self.last, **self.bare_parameters(readers)}
        dead = {n for i in self.pre + self.ops_at for n, block in self.trace.ops[i].freed if owner(block) == self.place}
        before = {n for i in self.pre for n in self.trace.ops[i].outputs}
        passed = self.passed_on(readers, dead)
        given |= {name: number for number, name in passed.items()}
        for number in sorted(self.made - passed.keys()):
            used = any(reader != self.place for reader in readers.get(number, ()))
            outlives = self.place == "before" and number not in dead
            outlives |= self.joins_stacks() and number in before and number not in dead and number not in self.recording.freed_between()
            # What comes out of a layer is read by the next; some are kept beside that.
            following = self.following()
            kept = number == self.last and following is not None and any(isinstance(r, int) and r > following for r in readers.get(number, ()))
            if (used or outlives) and (number != self.last or kept):
                given[self.recording.scope.setdefault(number, f"g{len(self.recording.scope)}")] = number
        held = sorted(self.held_by_caller(set(given.values()) - {self.last}))
        names = {number: self.name_since(number) for number in held}
        given |= {name: number for number, name in names.items() if name is not None and name not in given}
        for i, number in enumerate(number for number in held if number not in given.values()):
            given[f"{OUTPUTS}{i or ''}"] = number
        return given

    def name_since(self, number):
        """The name that such a value has had since another layer made one in whose place it comes (the tokens that an indexer chose, which later
        layers read until one chooses anew)."""
        for other, name in self.recording.scope.items():
            before = self.maker(other)
            if isinstance(before, int) and before < self.place and self.made_as(other) == self.made_as(number):
                return name
        return None

    def maker(self, number):
        """The block that makes a value; None for parameters and what the model is given."""
        made = self.recording.made_by.get(number)
        return made and owner(made[0].block)

    def made_as(self, number):
        """How a value is made: by which operator, as which of its outputs, of which shape."""
        made = self.recording.made_by.get(number)
        return made and (made[0].name, made[1], self.trace.values[number].shape)

    def passed_on(self, readers, dead):
        """What the layer makes in the place of what the layer before it made for it alone (the states of ZAYA's router): number -> the name that it
        has had since then, so that such layers are of one kind, the last one among them."""
        if not isinstance(self.place, int):
            return {}
        at = {number: self.takes[place] for number, place in self.local.items() if isinstance(number, int) and place < len(self.takes)}
        found = {}
        for number, name in at.items():
            before = None if name == "hidden_states" else self.maker(number)
            # The very layer before: a tower's layers hand on to the text's what this one has its like of (Qwen3-VL's deepstack).
            if not isinstance(before, int) or before != self.preceding() or not set(readers.get(number, ())) <= {before, self.place}:
                continue
            same = [n for n in self.made - dead - {self.last} if self.made_as(n) == self.made_as(number)]
            if len(same) == 1 and set(readers.get(same[0], ())) <= {self.place, self.following()}:
                self.recording.scope[same[0]] = found[same[0]] = name
        return found

    def held_by_caller(self, given):
        """What nothing reads any more and the model's loop holds beside the hidden states until the next layer has returned
        (modeling_bloom.py `outputs = block(...)`: attention's weights). What a value that is given is a view of is held by that view
        (T5's biases of positions, a transposed embedding)."""
        if not isinstance(self.place, int) or not self.ops_at:
            return set()
        later = {n for op in self.trace.ops[self.ops_at[-1] + 1 :] for n, _ in op.freed}
        own = {n for n in later if n in self.made and n != self.last and self.trace.values[n].origin[0] == "op"}
        return own - {base for number in given for base in self.bases(number)}

    def bases(self, number):
        """The value itself and those of the block that it is a view of."""
        made_by = {n: (op, k) for op in (self.trace.ops[i] for i in self.pre + self.ops_at) for k, n in enumerate(op.outputs)}
        while number is not None:
            yield number
            op, k = made_by.get(number, (None, 0))
            number = None if op is None or op.aliases[k] is None else op.inputs[op.aliases[k]]

    def preceding(self):
        """The layer that ran before."""
        return max((i for i in range(self.place) if i not in self.recording.plain.skipped), default=None)

    def following(self):
        """The layer that runs next."""
        if not isinstance(self.place, int):
            return None
        run = self.recording.plain
        return next(i for i in range(self.place + 1, self.recording.layers + 1) if i not in run.skipped)

    def joins_stacks(self):
        """Whether it is the first layer of a stack that follows another: what the model makes before it stays in its own scope."""
        prefixes = self.recording.plain.prefixes
        if not isinstance(self.place, int) or self.place == 0:
            return False
        stack = lambda i: prefixes[i].rstrip(".").rpartition(".")[0]
        return stack(self.place) != stack(self.place - 1)

    def bare_parameters(self, readers):
        """Parameters of the model itself that other blocks read (LLaVA-NeXT's newline): they take them like values."""
        if self.place != "before":
            return {}
        origins = ((number, self.trace.values[number].origin) for number in readers)
        bare = {number: origin[1] for number, origin in origins if origin[0] == "parameter" and "." not in origin[1] and origin in self.parameters}
        return {f"parameter:{name}": number for number, name in bare.items() if any(reader != self.place for reader in readers[number])}

    def gives_before(self):
        """Those of them that are there before the layer is called, what it is called with among them."""
        made = {n for i in self.pre for n in self.trace.ops[i].outputs}
        given = {name: number for name, number in self.given.items() if number in made}
        if self.enters is not None:
            given["hidden_states"] = self.enters
            if self.first is not None and self.joins_stacks() and self.first not in self.recording.freed_between():
                given[self.recording.scope.setdefault(self.first, f"g{len(self.recording.scope)}")] = self.first
        return given

    # -- as data

    def data(self, templates):
        """The block; backward templates go into `templates` and are named by their place there."""
        block = {"modules": self.modules, "takes": list(self.takes), "gives": {}, "ops": []}
        ahead = self.gives_before()
        if self.pre:
            block["pre"] = [said for i in self.pre for said in self.said(i, templates)]
        if ahead:
            block["ahead"] = {name: self.read(number) for name, number in ahead.items()}
        leaves = [self.local[number] for number in self.recording.plain.leaves if number in self.made]
        if leaves:
            block["leaves"] = leaves
        block["ops"] = [said for i in self.ops_at for said in self.said(i, templates)]
        block["gives"] = {name: self.read(number) for name, number in self.given.items() if name not in ahead or name == "hidden_states"}
        handed = [self.local[number] for number in self.recording.plain.handed if number in self.made]
        if handed:
            block["handed"] = handed
        while True:
            first_free = len(self.takes) + sum(len(op["o"]) for op in block.get("pre", []))
            folded = fold(block["ops"], first_free, templates, [*block["gives"].values(), *block.get("handed", [])])
            if folded is None:
                return block
            block["ops"], rename = folded
            block["gives"] = {name: rename(number) for name, number in block["gives"].items()}
            if handed:
                block["handed"] = [rename(number) for number in block["handed"]]

    def read(self, number):
        found = self.local.get(number)
        return self.parameters[self.trace.values[number].origin] if found is None else found

    def said(self, at, templates):
        """An operator, perhaps with the clone of what it overwrites before it."""
        said = self.op(at, templates)
        clone = self.recording.clones.get(at)
        if clone is None:
            return [said, *self.view_again(at, said, templates)]
        place = self.local[("clone", at)]
        value = self.recording.graph.trace.values[clone.outputs[0]]
        before = {"f": "clone", "i": [said["i"][0]], "o": [[Sizes(value.shape), "p"]]}
        if "m" in said:
            before["m"] = said["m"]
        said["i"] = [*said["i"], place]
        said["d"] = [*said.get("d", []), place]
        return [before, said, *self.view_again(at, said, templates)]

    def view_again(self, at, said, templates):
        """The view of a base that an operator has changed through it: from there on it follows from the changed base."""
        op, twin = self.trace.ops[at], self.recording.pairs[at]
        if twin.view_node is None:
            return []
        view, base = op.outputs
        name = next((other.name for other in self.trace.ops[:at] if op.inputs[0] in other.outputs), "view")
        again = {"f": name, "i": [self.local[base]], "o": [[Sizes(self.trace.values[view].shape), "p", 0]]}
        received = self.recording.received.get(twin.view_node)
        if received is not None and self.recording.wants(op.block):
            template = template_of(twin, self.recording.graph.trace, received, {}, twin.view_node)
            again["n"] = [[0], [], templates.add(template)]
        # It reads the base, so what goes goes behind it.
        again["d"] = [self.local[("changed", at)], *said.pop("d", [])]
        return [again]

    def like(self, op):
        """The tensor of the block whose dtype a cast takes, where the code that asks for it says so."""
        kind, which = op.attributes.get("like") or (None, None)
        if kind == "value":
            return self.local.get(which)
        return self.parameters.get((kind, which))

    def op(self, at, templates):
        op, twin = self.trace.ops[at], self.recording.pairs[at]
        outputs = []
        for number, alias in zip(op.outputs, op.aliases):
            value = self.trace.values[number]
            code = "p" if op.name in ("linear", "attention") else dtype_code(self.trace, op, value)
            outputs.append([Sizes(value.shape), code] + ([] if alias is None else [alias]))
        said = {"f": op.name}
        if op.module is not None and self.short(op.module) in self.module_at:
            said["m"] = self.module_at[self.short(op.module)]
        said["i"] = [self.read(number) for number in op.inputs]
        like = self.like(op)
        if like is not None:
            # The dtype of a tensor, which may be another than the recording's where the program runs.
            said["i"].append(like)
            outputs[0][1] = f"i{len(op.inputs)}"
        said["o"] = outputs
        # A module of the reader's own has no config, and the rate that it was recorded with.
        is_own = own.of(self.recording.decoder)
        rate_key = lambda name: None if is_own else rates.key_of(self.recording.decoder.config, op.attributes.get(name))
        if op.name == "attention":
            said["a"] = attention_attributes(op.attributes, self.trace, op)
            if rate_key("dropout"):
                said["a"]["dropout"] = rate_key("dropout")
        if rate_key("rate"):
            said["p"] = rate_key("rate")
        if twin.node is not None and self.recording.wants(op.block):
            clone = self.recording.clones.get(at)
            if clone is not None:
                twin.input_keys = [*twin.input_keys, *clone.output_keys]
            node = describe(twin, self.recording.graph.trace)
            received = self.recording.received.get(twin.node)
            if received is not None:
                # The gradient of a base that is changed through a view is its second output's.
                renamed = {**node.renamed, "g0": "g1"} if changes_view(twin) and copies_slices(twin.node) else node.renamed
                template = with_shapes(template_of(twin, self.recording.graph.trace, received, renamed), twin, node)
                if "pieces_joined" in twin.attributes:
                    template = of_one_gradient(template)
                said["n"] = [node.edges, node.saved, templates.add(template)]
        freed = [self.read(n) for n, block in op.freed if owner(block) == self.place and n in self.local]
        freed = [number for number in freed if number not in {self.read(n) for n in self.given.values()}]
        if freed:
            said["d"] = freed
        return said


def attention_attributes(attributes, trace, op):
    said = {key: Size(attributes[key]) for key in ("heads", "kv_heads", "width", "value_width")}
    if attributes["window"] is not None:
        said["window"] = Size(attributes["window"])
    if "pieces" in attributes:
        said["pieces"] = Size(attributes["pieces"])
    said["causal"] = attributes["causal"]
    if attributes["masked"]:
        said["masked"] = True
        if attributes["mask_rows"] > 1:
            said["mask_rows"] = Size(attributes["mask_rows"])
    if attributes.get("bare") and attributes["heads"] != attributes["kv_heads"]:
        said["bare"] = True
        if attributes.get("grouped"):
            said["grouped"] = True
    said["token_major"] = attributes["token_major"]
    return said


def dtype_of(tensor):
    if tensor.dtype.is_complex:
        return "d"
    if not tensor.dtype.is_floating_point:
        return {torch.int64: "l", torch.int32: "i"}.get(tensor.dtype, "b")
    return exact_code(tensor.dtype)


def class_of(module):
    name = type(module).__name__
    return "Linear" if name in LINEAR_BY_HAND else name
