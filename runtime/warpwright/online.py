"""The options warpwright.search="now" and "background": a graph's first call starts the search for
its regions, and confirms plans."""

import json
import os
import subprocess

from . import core, dynamo, jobs, search

import torch


def session_for(ours, found, place):
    """A session for the graph; None if its regions have been searched and its plans confirmed."""
    return Online(ours) if jobs.queue(found["regions"], place) or untried(found) else None


def untried(found):
    """Keys of regions whose plans are newer than the graph's binding."""
    binding = found["binding"] or {"regions": []}
    return {one["key"] for one in found["regions"] if one["has_plan"]} - set(binding.get("tried", binding["regions"]))


class Online(search.FirstCall):
    def __init__(self, ours):
        super().__init__()
        self.waits, self.seconds = ours["search"] == "now", search.seconds_of(ours["budget"])

    def usual(self, graph):
        return dynamo.compiled_with(graph.gm, *dynamo.wanted_regions(graph.found, False), graph.ordered, graph.compiled)

    def choose(self, graph, usual, values):
        function = usual
        try:
            with dynamo.override_store(graph.place["store"]):
                graph.waiting = jobs.queue(graph.regions, graph.place, lambda: graph.profiles(values))
                if graph.waiting and self.waits:
                    search.search([graph], self.seconds, search.Progress())
                    graph.found.update(dynamo.look(graph.gm, graph.mode))
                    graph.regions = graph.found["regions"]
                if untried(graph.found):
                    plain = graph.compile() if any(dynamo.wanted_regions(graph.found, False)) else usual
                    function = search.confirmed(graph, plain, values)
                if graph.waiting and not self.waits:
                    start(graph)
        except Exception as error:  # errors here must not break the user's program
            dynamo.say(error)
        return function


def start(graph):
    """Starts a background search of the graph's folder of the store, unless one is running there."""
    command = search.command(graph) + ["--background", "--parent", str(os.getpid())]
    if graph.device.type == "cuda":
        command += ["--idle-gpu", "GPU-" + str(torch.cuda.get_device_properties(graph.device).uuid)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=search.surroundings(), start_new_session=True)  # returns once the search is detached
    line = json.loads((done.stdout.splitlines() or ["{}"])[-1])
    if done.returncode:
        raise core.CoreError(line.get("message") or f"{command[0]} ended with code {done.returncode}: {done.stderr.strip()[-400:]}")
