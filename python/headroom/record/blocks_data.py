"""Sizes in a recorded block that become expressions, and why there may be none."""


class Size(int):
    """A dimension that becomes an expression."""


class Sizes(tuple):
    """A shape whose dimensions become expressions."""


class Unrecordable(Exception):
    """What a program cannot say of this model."""


def comparable(value, templates):
    """A block with its templates in place of their numbers."""
    if isinstance(value, dict):
        said = {key: comparable(item, templates) for key, item in value.items()}
        if isinstance(value.get("n"), list):
            said["n"] = [value["n"][0], value["n"][1], templates[value["n"][2]]]
        return said
    if isinstance(value, (list, tuple)):
        return [comparable(item, templates) for item in value]
    return value
