#!/usr/bin/env python3
"""Verified candidates per second of the runs `on1` and `on2` in a folder, from the verdicts that their processes wrote, and their ratio.

A rate is of the verdicts between the first one and the last one of the run, over all its processes.
Standard library only.
"""
import datetime
import glob
import json
import sys


def verdicts(folder, run):
    for path in sorted(glob.glob(f"{folder}/{run}.jsonl*")):
        with open(path) as lines:
            for line in lines:
                if '"verdict"' in line and line.endswith("\n"):
                    verdict = json.loads(line)
                    yield datetime.datetime.fromisoformat(verdict["date"].replace("Z", "+00:00")), verdict["outcome"]


def rate(folder, run):
    found = sorted(verdicts(folder, run))
    if len(found) < 2:
        return {"run": run, "verdicts": len(found)}
    seconds = (found[-1][0] - found[0][0]).total_seconds()
    verified = sum(outcome == "verified" for _, outcome in found)
    return {"run": run, "verdicts": len(found), "seconds": seconds, "verified_per_s": verified / max(1, seconds)}


def main():
    one, two = rate(sys.argv[1], "on1"), rate(sys.argv[1], "on2")
    ratio = two.get("verified_per_s", 0) / one["verified_per_s"] if one.get("verified_per_s") else None
    print(json.dumps({"one": one, "two": two, "ratio": ratio}, indent=1))


if __name__ == "__main__":
    main()
