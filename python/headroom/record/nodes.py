"""What autograd adds to a trace: which operator became which node of the graph, what it saved, and what its backward runs."""

from dataclasses import dataclass, field
from functools import lru_cache

import torch

from . import packages
from .trace import Trace, key_of, tensors_in


@dataclass
class Node:
    """One node: for each gradient the place of its input, what is saved, and the template of its backward."""

    edges: list
    saved: list
    template: "Template | None" = None
    # what templates call saved tensors -> their place without numbers
    renamed: dict = field(default_factory=dict)


@dataclass
class Template:
    """Operators that a node's backward runs: (name, references, [(shape, dtype)], references freed), and its results with their shapes."""

    steps: list = field(default_factory=list)
    results: list = field(default_factory=list)
    # of a function of Python, which saves and makes everything, wanted or not
    whole: bool = False

    def renamed(self, names):
        """The same with other names of saved tensors."""
        name = lambda reference: names.get(reference, reference)
        steps = [[f, [name(i) for i in inputs if i != "?"], outputs, freed] for f, inputs, outputs, freed in self.steps]
        return Template(steps, [None if r is None else (name(r[0]), r[1]) for r in self.results], self.whole)


def parameters_of(names):
    return {identity: kind for identity, kind in names.items() if kind[0] == "parameter"}


def attach(run):
    """Finds the node of each operator of a run with a graph."""
    trace = run.trace
    by_number = {value.number: value for value in trace.values}
    find_sources(trace, by_number)
    for op in trace.ops:
        if changes_view(op) and attach_in_place(op, by_number):
            continue
        sources = [by_number[number].source for number in op.outputs]
        found = next((source[0] for source in sources if source and source[0] is not None), None)
        if found is None and run.hidden in op.outputs:
            found = run.output.grad_fn
        if found is not None and op.name not in ("linear", "attention", "detach"):
            op.node = found


def find_sources(trace, by_number):
    """Nodes of values that no operator reads and a function of Python does: it saves them, with their place in the graph."""
    made = {key: by_number[number] for op in trace.ops for number, key in zip(op.outputs, op.output_keys)}
    functions = {value.source[0] for value in by_number.values() if value.source and hasattr(value.source[0], "saved_tensors")}
    for function in functions:
        for tensor in saved_tensors(function):
            value = made.get(key_of(tensor))
            if value is not None and value.source is None and tensor.grad_fn is not None:
                value.source = (tensor.grad_fn, tensor.output_nr)


def changes_view(op):
    """Whether an operator changes a view in place: it gives the view and its base."""
    return len(op.outputs) == 2 and op.name.split(".")[0].endswith("_") and op.aliases[1] == len(op.inputs) - 1


def copies_slices(node):
    return node is not None and node.name().endswith("CopySlices")


def attach_in_place(op, values):
    """The base's node (torch/csrc/autograd/functions/tensor.cpp `CopySlices`), and the one that makes the view anew from it."""
    view, base = (values[number] for number in op.outputs)
    if view.source is not None and view.source[0] is not None and not copies_slices(view.source[0]):
        op.view_node = view.source[0]
    if base.source is None and op.view_node is not None:
        above = op.view_node.next_functions[0]
        base.source = above if copies_slices(above[0]) else None
    if base.source is None:
        op.view_node = None
        return False
    op.node = base.source[0]
    return op.node is not None


def describe(op, trace):
    """Edges and saved tensors of an operator's node."""
    node = op.node
    taken, edges = set(), []
    for function, number in node.next_functions:
        edges.append(place_of(op, trace, function, number, taken))
    saved = []
    for tensor in saved_tensors(node):
        key = key_of(tensor)
        if key in op.output_keys and not (key in op.input_keys and "result" not in saved_names(node)):
            saved.append(f"o{op.output_keys.index(key)}")
        elif key in op.input_keys:
            saved.append(f"i{op.input_keys.index(key)}")
        else:
            place = same_storage(op, key)
            if place is None and is_number(tensor):
                # A Python number, which takes no memory of the device.
                place = "-"
            if place is None:
                raise ValueError(f"{node.name()} of {op.name} saves what it was not given: {key[2]}")
            saved.append(place)
    numbers = [i for i, place in enumerate(saved) if place == "-"]
    renamed = {f"s{i}": f"s{i - sum(n < i for n in numbers)}" for i in range(len(saved)) if i not in numbers}
    return Node(edges, [place for place in saved if place != "-"], renamed=renamed)


def is_number(tensor):
    return tensor.dim() == 0 and tensor.device.type == "cpu"


def same_storage(op, key):
    for letter, keys in (("i", op.input_keys), ("o", op.output_keys)):
        for i, other in enumerate(keys):
            if other[0] == key[0]:
                return f"{letter}{i}"
    return None


def place_of(op, trace, function, number, taken):
    if function is None:
        return None
    variable = getattr(function, "variable", None)
    for i, value_number in enumerate(op.inputs):
        if i in taken:
            continue
        value = trace.values[value_number]
        if variable is not None:
            if trace.names.get(id(variable)) == value.origin:
                taken.add(i)
                return i
        elif value.source is not None and value.source[0] is function and value.source[1] == number:
            taken.add(i)
            return i
    return None


def saved_names(node):
    return saved_names_of(type(node))


@lru_cache(maxsize=None)
def saved_names_of(kind):
    """What nodes of a class name what they save: each of ATen's has a class of its own."""
    return tuple(name for name in dir(kind) if name.startswith("_saved_"))


def saved_tensors(node):
    """In the order of their names, as generated code keeps them; a Python function's in its own."""
    if hasattr(node, "saved_tensors"):
        return [tensor for tensor in node.saved_tensors if tensor is not None]
    found = []
    for name in saved_names(node):
        found.extend(tensors_in(getattr(node, name)))
    return found


def gradients(run, nodes):
    """Runs backward once: size, stride and dtype of each gradient that a node receives."""
    received, handles = {}, []
    for node in nodes:
        def hook(given, node=node):
            received[node] = [None if g is None else (tuple(g.shape), g.stride(), g.dtype) for g in given]

        handles.append(node.register_prehook(hook))
    with torch.device("meta"):
        run.output.backward(torch.empty_like(run.output), retain_graph=True)
    for handle in handles:
        handle.remove()
    return received


def template_of(op, trace, received, renamed, node=None):
    """What backward of an operator's node, or of `node` beside it, runs for gradients that look like `received`; run once for all
    that are alike."""
    node = node or op.node
    key = likeness(op, node, trace, received)
    if key not in _found:
        _found[key] = run_backward(node, received)
    if op.name == "_to_copy" and not _found[key].steps and node is op.node:
        # It casts nothing here; where it does, so does its backward.
        shape = trace.values[op.inputs[0]].shape
        _found[key] = Template([["_to_copy", ["g0"], [(shape, "h")], []]], [("t0", shape)])
    return _found[key].renamed(renamed)


# Operators whose backward takes of a tensor that it saved no more than its shape (tools/autograd/derivatives.yaml: `gather_backward(grad, self, ...)`,
# `grad.index_select(dim, index).expand_as(source)`): no operator of it reads the tensor, which lives all the same.
FOR_THEIR_SHAPE = ("gather", "index_add", "index_add_")


def with_shapes(template, op, node):
    """The template with such tensors read by the operator that makes their gradients."""
    if op.name not in FOR_THEIR_SHAPE:
        return template
    read = {operand for _, inputs, _, _ in template.steps for operand in inputs}
    counts = [len(outputs) for _, _, outputs, _ in template.steps]
    steps = [[name, list(inputs), outputs, freed] for name, inputs, outputs, freed in template.steps]
    for place, result in zip(node.edges, template.results):
        slots = [f"s{i}" for i, saved in enumerate(node.saved) if saved == f"i{place}" and f"s{i}" not in read]
        if result is None or not result[0].startswith("t") or not slots:
            continue
        made = int(result[0][1:])
        step = next(i for i in range(len(steps)) if made < sum(counts[: i + 1]))
        steps[step][1].extend(slots)
    return Template(steps, template.results)


# Templates of a process by what they follow from, before saved tensors are renamed.
_found = {}


def likeness(op, node, trace, received):
    """All that a node's backward can depend on: its class, what it was given, what it saved and which of that lies in one storage."""
    saved = [(key_of(tensor)[0], tensor.storage_offset(), tuple(tensor.shape), tensor.stride(), tensor.dtype) for tensor in saved_tensors(node)]
    storages = list(dict.fromkeys(one[0] for one in saved))
    said = [(storages.index(one[0]), *one[1:]) for one in saved]
    others = []
    if hasattr(node, "saved_tensors"):
        # What a function of Python keeps beside tensors: the length of chunks, options.
        others = [(name, repr(value)) for name, value in sorted(vars(node).items()) if not any(True for _ in tensors_in(value)) and not callable(value)]
    else:
        for name in saved_names(node):
            value = getattr(node, name)
            others.append((name, None if any(True for _ in tensors_in(value)) else repr(value)))
    values = [(v.shape, v.stride, v.dtype) for v in (trace.values[number] for number in (*op.inputs, *op.outputs))]
    wanted = [function is not None for function, _ in node.next_functions]
    return repr((op.name, node.name(), op.scalars, values, received, said, others, wanted, packages.CARD["multiprocessor_count"]))


def run_backward(node, received):
    with torch.device("meta"):
        given = [None if g is None else torch.empty_strided(g[0], g[1], dtype=g[2]) for g in received]
    saved = [key_of(tensor) for tensor in saved_tensors(node)]
    names = {id(g): ("input", f"g{i}") for i, g in enumerate(given) if g is not None}
    trace = Trace(names)
    trace.functions = int(hasattr(node, "saved_tensors"))
    with torch.no_grad(), trace:
        results = node(*given) if not hasattr(node, "saved_tensors") else node.apply(*given)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if hasattr(node, "saved_tensors"):
        # A function of Python gives back one for each argument; its node has edges for tensors alone.
        wanted = (result for result, needed in zip(results, node.needs_input_grad) if needed)
        results = [None if function is None else next(wanted, None) for function, _ in node.next_functions]
    numbers = [None if r is None else trace.number_of(r) for r in results]
    trace.close()
    del results
    template = assemble(trace, numbers, saved)
    # What stands for an operator of ATen saves as that does.
    template.whole = hasattr(node, "saved_tensors") and not getattr(getattr(node, "_forward_cls", None), "of_aten", False)
    return template


def assemble(trace, results, saved):
    """Steps that allocate; views are what they are views of."""
    reference, steps, alive = {}, [], {}
    produced = 0

    def refer(number):
        if number not in reference:
            value = trace.values[number]
            if value.origin[0] == "input" and value.origin[1].startswith("g"):
                reference[number] = value.origin[1]
            else:
                matches = [i for i, key in enumerate(saved) if key[0] == value.storage]
                reference[number] = f"s{matches[0]}" if matches else "?"
        return reference[number]

    for op in trace.ops:
        inputs = [refer(number) for number in op.inputs]
        fresh = [number for number, alias in zip(op.outputs, op.aliases) if alias is None]
        for number, alias in zip(op.outputs, op.aliases):
            if alias is not None:
                reference[number] = inputs[alias]
        outputs = []
        for number in fresh:
            reference[number] = f"t{produced}"
            produced += 1
            value = trace.values[number]
            outputs.append((value.shape, dtype_code(trace, op, value)))
        for number in op.outputs:
            if reference[number].startswith("t"):
                alive.setdefault(reference[number], set()).add(number)
        freed = []
        for number, _ in op.freed:
            holders = alive.get(reference.get(number))
            if holders and number in holders and number not in results:
                holders.discard(number)
                if not holders:
                    freed.append(reference[number])
        if fresh:
            steps.append([op.name, inputs, outputs, freed])
        elif freed and steps:
            steps[-1][3].extend(freed)
    return Template(steps, [None if number is None else (refer(number), trace.values[number].shape) for number in results])


def dtype_code(trace, op, value):
    """How a program names an output's dtype."""
    dtype = value.dtype
    if dtype.is_complex:
        # Eight bytes that get gradients.
        return "d"
    if not dtype.is_floating_point:
        return {torch.int64: "l", torch.int32: "i"}.get(dtype, "b")
    if op.name == "_to_copy" and "dtype" in op.attributes:
        return exact_code(dtype)
    floats = [trace.values[number] for number in op.inputs if trace.values[number].dtype.is_floating_point]
    wide = [v for v in floats if v.shape] or floats
    promoted = None
    for v in wide:
        promoted = v.dtype if promoted is None else torch.promote_types(promoted, v.dtype)
    return "p" if promoted == dtype else exact_code(dtype)


def exact_code(dtype):
    return {torch.float32: "f", torch.float64: "d"}.get(dtype, "h")
