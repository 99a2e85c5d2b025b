#!/usr/bin/env bash
# One scenario of the extension in VS Code: packs the extension from its sources, then drives it. Exit 77 (skipped), with the reason, where
# scripts/install-editors.sh has not been run or could not install all.
# usage: run.sh SCENARIO BIN [bundled]     BIN: the programs; bundled: the VSIX that brings them along is packed too
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
scenario=$1
bin=$(realpath "$2")
"$root/scripts/install-editors.sh" --check
node=$("$root/scripts/node-path.sh" exact)
export PATH=$node:$PATH
mkdir -p "$root/build/packages"
(
  flock 9
  cd "$root/build/packages"
  wanted=warpwright${3:+-linux-x64}.vsix
  newest=$(find "$root/editors/vscode" "$root/docs" -path '*/node_modules' -prune -o -type f -newer "$wanted" -print -quit 2>/dev/null || echo none)
  stale=no
  [ -e "$wanted" ] && [ -z "$newest" ] || stale=yes
  [ -z "${3:-}" ] || [ ! "$bin/warpwright" -nt "$wanted" ] || stale=yes
  [ "$stale" = no ] || "$root/scripts/package-vscode.sh" ${3:+"$bin"}
) 9>"$root/build/packages/.vscode.lock"
WARPWRIGHT_BIN=$bin exec node --test --test-reporter=spec "$root/tests/editors/vscode/$scenario.test.mjs"
