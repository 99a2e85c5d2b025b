"""Reads what cupti_trace.so wrote, and finds the launches that ran with a cold cache. Standard library only.

A cold launch is one of a timed graph that comes after the L2 flush with no other kernel between:
the runner queues [flush: a memset of at least the L2's size] [delay kernel ww_...] [graph: stamp,
plan, stamp].
"""
import dataclasses

OWN_PREFIX = "ww_"  # the runner's own kernels


@dataclasses.dataclass
class Event:
    kind: str  # "K" or "M"
    start: int
    end: int
    number: int  # K: graph node, 0 outside a graph; M: bytes
    name: str = ""


def read_trace(lines):
    """In the order of their start. Half a line at the end (the process was killed) is dropped."""
    events = []
    for line in lines:
        parts = line.rstrip("\n").split(" ", 4)
        if not line.endswith("\n") or parts[0] not in ("K", "M") or len(parts) < (5 if parts[0] == "K" else 4):
            continue
        events.append(Event(parts[0], int(parts[1]), int(parts[2]), int(parts[3]), parts[4] if parts[0] == "K" else ""))
    events.sort(key=lambda event: event.start)
    return events


def cold_durations(events, l2_bytes):
    """[ns, ...] of the launches right after a flush, but the runner's own; inside graphs where the trace tells graphs apart.

    Names are not compared: CUPTI's do not outlive the module of their kernel."""
    knows_graphs = any(event.kind == "K" and event.number for event in events)
    durations, flushed = [], False
    for event in events:
        if event.kind == "M":
            flushed = flushed or event.number >= l2_bytes
        elif event.name.startswith(OWN_PREFIX):
            flushed = flushed or "flush" in event.name
        else:
            if flushed and (event.number or not knows_graphs):
                durations.append(event.end - event.start)
            flushed = False
    return durations
