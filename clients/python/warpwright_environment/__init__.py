"""Client of `warpwright-train serve`, on the standard library alone (docs/use/environment.md)."""

from .client import Environment, EnvironmentFailure, Turn
from .websocket import ConnectionLost

__all__ = ["ConnectionLost", "Environment", "EnvironmentFailure", "Turn"]
