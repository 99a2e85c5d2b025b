"""Which node a tensor of the trace stands for, through views and writes in place.

A tensor that is a view knows its base and how to get from the base's value to its own (`forward`) and back (`backward`). A write
to a view writes to its base, and other views are read anew from the base afterwards: the graph holds values only.
"""


class Tracked:
    """@param value the node; for a view it may be behind its base, see `Values.read`
    @param base the Tracked it is a view of, or None
    @param forward value of base -> value of this; backward: (value of base, new value of this) -> new value of base"""

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
        self.alive = []  # ids are only good while the tensors live

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
