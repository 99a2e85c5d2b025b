"""Exceptions that end a trace."""


class Refusal(Exception):
    """One sentence for the user: the part of the module that a graph cannot represent."""


class Mistake(AssertionError):
    """A bug of the tracer: a node's type differs from PyTorch's result."""


class NeedsValues(Exception):
    """The values of a fake tensor are needed: trace again with real tensors."""
