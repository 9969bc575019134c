"""Sizes in a recorded block that become expressions, and why there may be none."""


class Size(int):
    """A dimension that becomes an expression."""


class Sizes(tuple):
    """A shape whose dimensions become expressions."""


class Unrecordable(Exception):
    """What a program cannot say of this model."""
