#!/usr/bin/env bash
# One test of `warpwright mcp` by a client of the SDK. Exit 77 (skipped), with the reason, where scripts/install-agents.sh has not been run
# or could not install all.
# usage: run.sh TEST BIN     BIN: the programs
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/scripts/install-agents.sh" --check
node=$("$root/scripts/node-path.sh")
export PATH=$node:$PATH
WARPWRIGHT_BIN=$(realpath "$2") WARPWRIGHT_INSPECTOR=$root/build/agents/inspector \
  exec node --test --test-reporter=spec "$root/tests/agents/$1.test.mjs"
