"""Map from tensors of the trace to nodes, including views and in-place writes.

A tensor that is a view knows its base and the functions from the base's value to its own value
(`forward`) and back (`backward`). A write to a view writes to its base, and other views are then
read again from the base. The graph itself contains only values.
"""


class Tracked:
    """@param value the node; for a view it may be older than its base, see `Values.read`
    @param base the Tracked of which this is a view, or None
    @param forward value of base -> value of this
    @param backward (value of base, new value of this) -> new value of base"""

    def __init__(self, value, base=None, forward=None, backward=None):
        self.value = value
        self.base = base
        self.forward = forward
        self.backward = backward
        self.root = base.root if base else self
        self.version = self.root.version if base else 0


class Values:
    def __init__(self):
        self.tracked = {}
        self.alive = []  # keeps the tensors alive, because ids are valid only that long

    def bind(self, tensor, tracked):
        self.tracked[id(tensor)] = tracked
        self.alive.append(tensor)
        return tracked

    def find(self, tensor):
        return self.tracked.get(id(tensor))

    def read(self, tracked):
        if tracked.version != tracked.root.version:
            tracked.value = tracked.forward(self.read(tracked.base))
            tracked.version = tracked.root.version
        return tracked.value

    def write(self, tracked, value):
        if tracked.base is None:
            tracked.version += 1
        else:
            self.write(tracked.base, tracked.backward(self.read(tracked.base), value))
        tracked.value = value
        tracked.version = tracked.root.version
