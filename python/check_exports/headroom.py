"""The command `headroom`, as a person runs it."""

import json
import os
import re
import subprocess


class Headroom:
    """binary: path of the command."""

    def __init__(self, binary):
        self.binary = binary

    def run(self, *words, text=None):
        done = subprocess.run([self.binary, *words], input=text, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def complete(self, plan, trainer=None):
        """The whole plan of a link or of a part of one; under another trainer, with what was chosen in it."""
        code, out, err = self.run("export", "-", "--to", "json", text=plan if isinstance(plan, str) else json.dumps(plan))
        if code:
            raise ValueError(err.strip())
        whole = json.loads(out)
        if not trainer or whole["trainer"]["name"] == trainer:
            return whole
        decides = {key: whole[key] for key in ("trainer", "task", "method", "model")}
        chosen = {**decides, **differing(whole, self.complete(decides)), "trainer": {"name": trainer}}
        return self.complete(chosen)

    def peak(self, plan):
        """What a step needs, as `headroom estimate` says it."""
        _, out, err = self.run("estimate", "-", "--json", text=json.dumps(plan))
        if not out:
            raise ValueError(err.strip())
        return json.loads(out)["peak"]["allocated_bytes"]

    def export(self, plan, form, folder):
        """Writes the files; what they do not say, or None if the plan cannot be written so."""
        code, _, err = self.run("export", "-", "--to", form, "--out", folder, text=json.dumps(plan))
        if code:
            return None
        return set(re.findall(r"^headroom: ([\w.]+)=", err, flags=re.M))

    def read(self, folder):
        """What `headroom import` makes of every file in a folder."""
        paths = sorted(os.path.join(root, name) for root, _, names in os.walk(folder) for name in names)
        code, out, err = self.run("import", *paths, "--json")
        if code:
            raise ValueError(err.strip())
        return json.loads(out)


def differing(plan, base):
    """What of a plan is not as in another, as deep as sections go."""
    found = {}
    for key, value in plan.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict) and key not in ("model", "gpu"):
            inner = differing(value, base[key])
            if inner:
                found[key] = inner
        elif value != base.get(key):
            found[key] = value
    return found


def fields(plan, prefix=""):
    """A plan as {dotted name: value}."""
    found = {}
    for key, value in plan.items():
        name = prefix + key
        if isinstance(value, dict) and key not in ("config", "model", "gpu"):
            found.update(fields(value, name + "."))
        else:
            found[name] = value
    return found
