"""GPU memory of an LLM training run, before the run. All sizes in bytes."""

import json as _json

from . import _headroom

__all__ = ["advise", "advise_json", "diagnose", "diagnose_json", "estimate", "estimate_json", "from_link", "link", "read_link"]


def _text(plan):
    return plan if isinstance(plan, str) else _json.dumps(plan)


def estimate_json(plan):
    """What a plan needs, as the text that ``headroom estimate --json`` prints."""
    return _headroom.estimate(_text(plan))


def estimate(plan):
    """What a plan needs; the plan is a dictionary, its JSON, or a link.

    Raises ValueError with a sentence that names the field and its fix.
    """
    return _json.loads(estimate_json(plan))


def advise_json(plan):
    """What to change in a plan, as the text that ``headroom advise --json`` prints."""
    return _headroom.advise(_text(plan))


def advise(plan):
    """What to change so that a plan fits its GPUs, or what to raise where they are idle."""
    return _json.loads(advise_json(plan))


def diagnose_json(said, plan=None):
    """What a failure's or a monitor's text states, as the text that ``headroom diagnose --json`` prints."""
    return _headroom.diagnose(said, None if plan is None else _text(plan))


def diagnose(said, plan=None):
    """What a failure's or a monitor's text states and what is behind it, beside the plan of the run, where it is given.

    Without a plan nothing is compared, and ``missing`` lists the keys of a plan that are to be given. Raises ValueError where the
    text states nothing.
    """
    return _json.loads(diagnose_json(said, plan))


def link(plan, *, other=None, page=None, view=None, lang=None, theme=None):
    """A link to a plan, or to it and another compared."""
    return _headroom.link(_text(plan), None if other is None else _text(other), page, view, lang, theme)


def read_link(link):
    """What a link says: its title, every field of its plan, and of a second one."""
    return _json.loads(_headroom.read_link(link))


def from_link(link):
    """The plan of a link, every field."""
    return read_link(link)["plan"]
