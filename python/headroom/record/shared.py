"""Parameters that several layers have in common (the transformer of Zamba's hybrid layers), and those that lie in one layer's modules
and that another layer alone runs (its adapters there): the former belong to no layer, the latter to who runs them.
"""

from torch import nn

from .blocks_data import Sizes


def in_common(layers):
    """Parameters that are in the modules of more than one layer, by id."""
    found, seen = {}, set()
    for layer in layers:
        own = {id(parameter): parameter for parameter in layer.parameters()}
        found.update((key, parameter) for key, parameter in own.items() if key in seen)
        seen |= set(own)
    return found


def groups(layers):
    """How many groups of layers there are that have parameters in common."""
    found = []
    for layer in layers:
        own, apart = {id(parameter) for parameter in layer.parameters()}, []
        count = 1
        for members, known in found:
            if own & known:
                own, count = own | known, count + members
            else:
                apart.append((members, known))
        found = [*apart, (count, own)]
    return sum(members > 1 for members, _ in found)


class Users:
    """Which layers run the modules of such parameters, from a run of the model."""

    def __init__(self, run, layers):
        self.prefixes = run.prefixes
        self.modules = dict(run.decoder.named_modules(remove_duplicate=False))
        common = in_common(layers)
        named = {id(one): name for name, one in run.decoder.named_parameters()}
        self.names = {named[key] for key in common if key in named}
        self.users = {}
        for op in run.trace.ops:
            index = op.block[1] if isinstance(op.block, tuple) else op.block
            if not isinstance(index, int):
                continue
            read = {run.trace.values[n].origin[1] for n in op.inputs if run.trace.values[n].origin[0] == "parameter"}
            if op.name == "linear":
                read |= {f"{op.module}.{own}" for own in ("weight", "bias")}
            for name in read & self.names:
                self.users.setdefault(name, set()).add(index)
        # Those that more than one layer runs.
        self.shared = {name for name, users in self.users.items() if len(users) > 1}
        # Linear layers around such weights, each in one layer alone: peft adapts every one of them (Zamba 2's transformers).
        self.of_parameter = run.trace.names
        is_tied = lambda module: isinstance(module, nn.Linear) and self.name_of(module.weight) in self.shared
        self.alone = {id(module): name for name, module in self.modules.items() if is_tied(module) and len(run.trace.ran.get(id(module), ())) == 1}
        self.tied = set(self.alone.values())

    def name_of(self, parameter):
        """The name under which the model has a parameter first."""
        return self.of_parameter.get(id(parameter), (None, None))[1]

    def tied_entries(self, module):
        """Parameters of a linear layer as a program lists them, each with the name of the one that it is."""
        return [[own, Sizes(parameter.shape), {"of": self.name_of(parameter)}] for own, parameter in module.named_parameters(recurse=False)]

    def home(self, module):
        """The layer that a module below another layer's prefix belongs to, where that one alone runs it."""
        users = set().union(*(self.users.get(f"{module}.{own}", ()) for own, _ in self.modules[module].named_parameters(recurse=False)))
        return next(iter(users)) if len(users) == 1 else None

    def is_shared(self, module):
        """Whether all that a module has of its own is in common."""
        own = [name for name, _ in self.modules[module].named_parameters(recurse=False)]
        return bool(own) and all(f"{module}.{name}" in self.shared for name in own)

    def alike(self, name):
        """A module's name in the layer that runs it. Of a list with a module for each layer that runs it, the number is the layer's."""
        prefix = next((one for one in self.prefixes if name.startswith(one)), "")
        parts = name[len(prefix):].split(".")
        for i, part in enumerate(parts):
            held = self.modules.get(prefix + ".".join(parts[:i])) if i else None
            if part.isdigit() and isinstance(held, nn.ModuleList) and self.one_each(prefix + ".".join(parts[:i])):
                parts[i] = "0"
        return ".".join(parts)

    def one_each(self, name):
        """Whether no layer runs two modules of a list, and more than one layer runs some."""
        users = {}
        for parameter in self.names:
            if parameter.startswith(f"{name}."):
                entry = parameter[len(name) + 1 :].partition(".")[0]
                users.setdefault(entry, set()).update(self.users.get(parameter, ()))
        listed = [one for several in users.values() for one in several]
        return len(listed) > 1 and len(set(listed)) == len(listed)
