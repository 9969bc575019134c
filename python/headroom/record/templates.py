"""Templates of backwards, each listed once."""

from .blocks_data import Sizes


class Templates:
    """Distinct templates in the order of their first use."""

    def __init__(self):
        self.listed = []
        # For each its content as a number, so that equal ones are told quickly.
        self.contents, self.content_of = {}, []

    def add(self, template):
        steps = [[name, inputs, [[Sizes(shape), code] for shape, code in outputs], freed] for name, inputs, outputs, freed in template.steps]
        results = [None if r is None else [r[0], Sizes(r[1])] for r in template.results]
        return self.listing({"t": steps, "r": results, **({"w": True} if template.whole else {})})

    def with_results(self, number, results):
        """The number of the same template with other results."""
        return self.listing({**self.listed[number], "r": results})

    def listing(self, template):
        self.listed.append(template)
        self.content_of.append(self.contents.setdefault(repr(self.listed[-1]), len(self.contents)))
        return len(self.listed) - 1
