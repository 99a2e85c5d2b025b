"""Why a module has no graph."""


class Refusal(Exception):
    """One sentence for the user: what forward does that a graph cannot hold."""


class NeedsValues(Exception):
    """A tensor that is neither an input, a parameter nor a buffer was made while no values were: trace again with real ones."""
