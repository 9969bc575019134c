"""Sizes in a recorded block that become expressions."""


class Size(int):
    """A dimension that becomes an expression."""


class Sizes(tuple):
    """A shape whose dimensions become expressions."""
