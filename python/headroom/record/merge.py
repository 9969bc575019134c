"""Recordings of one model at several sizes side by side: what differs are sizes, each of which becomes an expression."""

import json
import re

from .blocks_data import Size, Sizes


class Writer:
    """Sizes of all recordings side by side as references into tables."""

    def __init__(self, explainer):
        self.explainer = explainer
        self.dims, self.shapes, self.shape_at = [], [], {}
        self.backwards, self.backward_at, self.renumbered = [], {}, {}

    def dim(self, values):
        return self.named(self.explainer.expression(values))

    def named(self, text):
        if text not in self.dims:
            self.dims.append(text)
        return self.dims.index(text)

    def shape(self, shapes):
        key = tuple(self.dim(values) for values in zip(*shapes))
        if key not in self.shape_at:
            self.shape_at[key] = len(self.shapes)
            self.shapes.append(list(key))
        return self.shape_at[key]

    def merge(self, recordings):
        templates = [self._merge([r["templates"][i] for r in recordings]) for i in range(len(recordings[0]["templates"]))]
        for i, template in enumerate(templates):
            text = json.dumps(template)
            if text not in self.backward_at:
                self.backward_at[text] = len(self.backwards)
                self.backwards.append(template)
            self.renumbered[i] = self.backward_at[text]
        return {"said": self._merge([r["said"] for r in recordings]), "templates": self.backwards}

    def _merge(self, values):
        first = values[0]
        if isinstance(first, Sizes):
            return self.shape(values)
        if isinstance(first, Size):
            return self.dim(values)
        if isinstance(first, dict):
            said = {key: self._merge([value[key] for value in values]) for key in first}
            if "pieces" in first and self.dims[said["pieces"]] == "1":
                # Every image by itself.
                said["pieces"] = self.named("images.count")
            if isinstance(first.get("n"), list):
                said["n"] = [first["n"][0], first["n"][1], self.renumbered[first["n"][2]]]
            return said
        if isinstance(first, (list, tuple)):
            return [self._merge(items) for items in zip(*values)]
        return first

    def names_read(self):
        return {name for text in self.dims for name in re.findall(r"[A-Za-z_][A-Za-z_0-9.]*", text)} - {"b", "s", "ceil", "max", "min"}
