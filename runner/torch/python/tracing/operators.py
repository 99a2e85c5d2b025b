"""Loads every handler."""
from . import (ops_factories, ops_losses, ops_norm, ops_pointwise, ops_products, ops_recurrent, ops_reduce, ops_views,  # noqa: F401
               ops_windows)
