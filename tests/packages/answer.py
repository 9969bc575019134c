"""Answers lines of ``[what, plan]`` with the text of the answer, or with what was refused; as JSON, a line each."""

import json
import sys

import headroom

CALLS = {"estimate": headroom.estimate_json, "advise": headroom.advise_json, "link": headroom.link}
for line in sys.stdin:
    what, plan = json.loads(line)
    try:
        said = CALLS[what](plan)
    except ValueError as error:
        said = f"refused: {error}"
    print(json.dumps(said), flush=True)
