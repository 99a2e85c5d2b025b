#!/usr/bin/env bash
# The main job on the examples: find faster versions of each kernel, verify them, show them. With an
# NVIDIA GPU the variants are measured there; with none the CPU backend proves them correct, and the
# program reports this. usage: scripts/demo.sh BIN_DIR
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$1
report=build/demo/report.html
mkdir -p build/demo
"$bin/warpwright" optimize examples/ --budget "${WARPWRIGHT_DEMO_BUDGET:-10s}" --html "$report"
echo
echo "The report with plots: $report"
