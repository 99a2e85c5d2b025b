"""The options warpwright.search="now" and "background": the program that calls a graph has it searched, and confirms its plans."""

import json
import os
import subprocess

from . import core, dynamo, jobs, search

import torch


def session_for(ours, found, place):
    """What a graph's first call is for; None: everything is searched and confirmed."""
    return Online(ours) if jobs.queue(found["regions"], place) or untried(found) else None


def untried(found):
    """Keys of plans that came after the graph's binding was made."""
    binding = found["binding"] or {"regions": []}
    return {one["key"] for one in found["regions"] if one["has_plan"]} - set(binding.get("tried", binding["regions"]))


class Online(search.FirstCall):
    def __init__(self, ours):
        super().__init__()
        self.waits, self.seconds = ours["search"] == "now", search.seconds_of(ours["budget"])

    def usual(self, graph):
        return graph.compile(dynamo.wanted_regions(graph.found, False))

    def choose(self, graph, usual, values):
        function = usual
        try:
            with dynamo.override_store(graph.place["store"]):
                graph.waiting = jobs.queue(graph.regions, graph.place, values)
                if graph.waiting and self.waits:
                    search.search([graph], self.seconds, search.Progress())
                    look_again(graph)
                if untried(graph.found):
                    plain = graph.compile() if dynamo.wanted_regions(graph.found, False) else usual
                    function = search.confirmed(graph, plain, values)
                if graph.waiting and not self.waits:
                    start(graph)
        except Exception as error:  # never the user's loss
            dynamo.say(error)
        return function


def look_again(graph):
    for region in graph.regions:
        plan, bad = (core.ask("read", kind=kind, key=region["key"], **graph.place)["record"] for kind in ("plan", "quarantine"))
        region["has_plan"] = bool(plan and not bad)


def start(graph):
    """Starts the program's background search, which ends by itself; at once, where one works in the same folder of the store."""
    command = search.command(graph) + ["--background", "--parent", str(os.getpid())]
    if graph.device.type == "cuda":
        command += ["--idle-gpu", "GPU-" + str(torch.cuda.get_device_properties(graph.device).uuid)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=search.surroundings(), start_new_session=True)
    line = json.loads((done.stdout.splitlines() or ["{}"])[-1])
    if done.returncode:
        raise core.CoreError(line.get("message") or f"{command[0]} ended with code {done.returncode}: {done.stderr.strip()[-400:]}")
