"""Whose dtype a cast takes: `x.to(other.dtype)` says a dtype that is a plain value by then. Where it was read is found in the code that
asks for the cast, by the place that Python gives of each call: the last read of `.dtype` on the line of the call, or on one that
gives the name that stands there its value. Nothing of the code is kept.
"""

import ast
import inspect
import linecache
import sys
import textwrap
from functools import lru_cache

import torch
from torch.utils._python_dispatch import _get_current_dispatch_mode as current_mode

from .trace import Trace

# How far up the callers a dtype is followed that is handed on as an argument.
DEEPEST = 4
_of_tensor = torch._C.TensorBase.dtype.__get__


def note_reads():
    """Lets a trace know which tensor's dtype is read, and where. Once for a process."""
    torch.Tensor.dtype = property(_read)


def _read(tensor):
    dtype = _of_tensor(tensor)
    mode = current_mode()
    if isinstance(mode, Trace) and not mode.quiet and dtype.is_floating_point:
        frame = sys._getframe(1)
        mode.reads.setdefault((id(frame), frame.f_code), []).append((frame.f_lineno, mode.owner_of_dtype(tensor), dtype))
    return dtype


def of_cast(trace, frame, arguments, keywords, dtype):
    """The tensor whose dtype a cast that is asked for in `frame` takes, as (kind, which), or None."""
    given = next((one for one in (*arguments, *keywords.values()) if isinstance(one, torch.Tensor)), None)
    if given is not None:
        return trace.owner_of_dtype(given)
    return _of_argument(trace, frame, "dtype", dtype, DEEPEST)


def _of_argument(trace, frame, name, dtype, deepest):
    """Whose dtype the call that `frame` is in the middle of hands on as `name`, or as one of those that it does not name."""
    call, lines = call_at(frame)
    if call is None:
        return None
    for expression in [one.value for one in call.keywords if one.arg == name] or call.args:
        found = _followed(trace, frame, (expression, lines), dtype, deepest)
        if found is not None:
            return found
    return None


def _followed(trace, frame, stated, dtype, deepest):
    """Whose dtype an expression is that stands in a call on some lines."""
    expression, lines = stated
    if isinstance(expression, ast.Attribute) and expression.attr == "dtype":
        return _last_read(trace, frame, lines, dtype)
    if not isinstance(expression, ast.Name):
        return None
    lines, is_argument = given_at(frame.f_code, expression.id)
    found = _last_read(trace, frame, lines, dtype)
    if found is not None or not is_argument or deepest == 0 or frame.f_back is None:
        return found
    back = frame.f_back
    while back is not None and back.f_code.co_filename.startswith(_ABOVE):
        back = back.f_back
    return None if back is None else _of_argument(trace, back, expression.id, dtype, deepest - 1)


# Frames between a module's caller and its forward.
_ABOVE = (torch.nn.modules.module.__file__,)


def _last_read(trace, frame, lines, dtype):
    reads = trace.reads.get((id(frame), frame.f_code), ())
    return next((owner for line, owner, read in reversed(reads) if line in lines and read == dtype), None)


def call_at(frame):
    """The call that a frame is in the middle of, and its lines."""
    positions = _positions(frame.f_code)
    at = frame.f_lasti // 2
    if at >= len(positions) or None in positions[at]:
        return None, ()
    return _parsed(frame.f_code.co_filename, *positions[at]), range(positions[at][0], positions[at][1] + 1)


@lru_cache(maxsize=None)
def _positions(code):
    return list(code.co_positions())


@lru_cache(maxsize=None)
def _parsed(filename, line, end_line, column, end_column):
    lines = [linecache.getline(filename, i).encode() for i in range(line, end_line + 1)]
    if not lines or not lines[-1]:
        return None
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column:]
    try:
        found = ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body
    except SyntaxError:
        return None
    return found if isinstance(found, ast.Call) else None


@lru_cache(maxsize=None)
def _function(code):
    """The syntax of the function that a code is of, with its first line."""
    try:
        text, first = inspect.getsourcelines(code)
        return ast.parse(textwrap.dedent("".join(text))), first
    except (OSError, TypeError, SyntaxError):
        return None, 0


@lru_cache(maxsize=None)
def given_at(code, name):
    """Lines on which a name gets its value in a function, and whether it is one of its arguments."""
    tree, first = _function(code)
    lines = set()
    for node in ast.walk(tree) if tree is not None else ():
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) else []
        if any(isinstance(inner, ast.Name) and inner.id == name for target in targets for inner in ast.walk(target)):
            lines |= set(range(node.lineno, node.end_lineno + 1))
    return frozenset(line + first - 1 for line in lines), name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
