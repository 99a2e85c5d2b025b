"""Import of all handlers, which registers them."""
from . import (ops_activations, ops_copies, ops_factories, ops_losses, ops_norm, ops_pointwise, ops_products,  # noqa: F401
               ops_recurrent, ops_reduce, ops_views, ops_windows)
