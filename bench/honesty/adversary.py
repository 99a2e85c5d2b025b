#!/usr/bin/env python3
"""Turns the report of `warpwright-runner adversary --json` into entries for bench/summary.py.

usage: bench/honesty/adversary.py --report adversary.json --out DIR [--commit HASH]

Counts the cheating and broken candidates that were refused for the reason that their case expects,
and the honest ones next to them that were verified. Writes DIR/adversary.entries.json when the
report is of a GPU. Standard library only.
"""
import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import entries  # noqa: E402

HONEST = "honest"


def summarise(report):
    bad = [case for case in report["cases"] if case.get("family") != HONEST]
    honest = [case for case in report["cases"] if case.get("family") == HONEST]
    return {"cases": len(bad), "refused": sum(case["refused"] and case.get("as_expected", True) for case in bad),
            "honest": len(honest), "verified": sum(not case["refused"] for case in honest),
            "skipped": len(report.get("skipped", [])),
            "missed": [case["name"] for case in report["cases"] if not case.get("as_expected", True)]}


def entries_of(summary, gpu, commit):
    made = entries.Entries("scripts/gpu/honesty.sh: warpwright-runner adversary", gpu, commit)
    if summary["cases"]:
        made.add("adversary.refused", summary["refused"], f"of {summary['cases']} cheating or broken candidates",
                 f"== {summary['cases']}")
    if summary["honest"]:
        made.add("adversary.honest_verified", summary["verified"], f"of {summary['honest']} honest candidates beside them",
                 f"== {summary['honest']}")
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--report", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--commit", default="unknown")
    arguments = parser.parse_args()
    try:
        with open(arguments.report, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        print(f"no report in {arguments.report}: {error}")
        return 1
    summary = summarise(report)
    print(f"{summary['refused']} of {summary['cases']} refused for the right reason, {summary['verified']} of "
          f"{summary['honest']} honest ones verified, {summary['skipped']} skipped; not as expected: "
          f"{', '.join(summary['missed']) or 'none'}")
    gpu = entries.gpu_name(report.get("device"))
    if gpu:
        entries.write_json(os.path.join(arguments.out, "adversary.entries.json"),
                           entries_of(summary, gpu, arguments.commit).list)
    return 0 if not summary["missed"] and summary["refused"] == summary["cases"] else 1


if __name__ == "__main__":
    sys.exit(main())
