"""Why a module has no graph."""


class Refusal(Exception):
    """One sentence for the user: what forward does that a graph cannot hold."""


class Mistake(AssertionError):
    """The tracer's own: what it wrote down has another type than PyTorch says."""


class NeedsValues(Exception):
    """Values of a tensor are asked for that was made without any: trace again with real ones."""
