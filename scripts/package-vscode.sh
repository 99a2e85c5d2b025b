#!/usr/bin/env bash
# Packs editors/vscode into build/packages: warpwright.vsix, which finds the server by its setting or on the PATH, and, when a folder
# with the built programs is given, warpwright-linux-x64.vsix, which brings them along (stripped). Needs npm and its registry once.
#
# Usage: scripts/package-vscode.sh [BIN]      BIN: build/release/bin
# Exit 77 (skipped) where there is no npm or its packages cannot be had.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
packages=$root/build/packages
bin=${1:-}
[ -z "$bin" ] || bin=$(cd "$bin" && pwd)

skip() {
  echo "package-vscode: $1" >&2
  exit 77
}

command -v npm >/dev/null || skip "there is no npm; install Debian's nodejs and npm, then: make package"
node=$("$root/scripts/node-path.sh") || skip "the extension for VS Code is not packed"
export PATH=$node:$PATH

cd "$root/editors/vscode"
if [ ! -e node_modules/.package-lock.json ] || [ package-lock.json -nt node_modules/.package-lock.json ]; then
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null || skip "npm ci failed: is the npm registry within reach?"
fi
mkdir -p "$packages"
npm run --silent check
npm run --silent build -- --log-level=warning --metafile="$packages/bundle.json"

# What is put beside the sources for packing, and is no source.
staged=(server LICENSE LICENSE.txt NOTICE THIRD_PARTY.txt licenses)
rm -rf "${staged[@]}"
trap 'cd "$root/editors/vscode" && rm -rf "${staged[@]}"' EXIT
"$root/scripts/notices.py" extension "$packages/bundle.json" . .
mv LICENSE LICENSE.txt # the name that vsce looks for
rm "$packages/bundle.json"

pack() { # NAME, then options of vsce
  npx --no-install vsce package --no-dependencies --allow-missing-repository --no-rewrite-relative-links -o "$packages/$1" "${@:2}" >"$packages/$1.log" ||
    { cat "$packages/$1.log" >&2; exit 1; }
  rm "$packages/$1.log"
  echo "$packages/$1"
}

pack warpwright.vsix
if [ -n "$bin" ]; then
  mkdir -p server/bin server/share/doc/warpwright
  for program in warpwright warpwright-runner warpwright-worker-cpu warpwright-collect libwarpwright-capture.so; do
    [ ! -x "$bin/$program" ] || strip -o "server/bin/$program" "$bin/$program"
  done
  [ ! -d "$bin/torch" ] || cp -r "$bin/torch" server/bin/torch
  find server -name __pycache__ -prune -exec rm -rf {} +
  cp "$root"/docs/*.md server/share/doc/warpwright
  install -D -m 644 -t server/share/doc/warpwright/internals "$root"/docs/internals/*.md
  install -D -m 644 -t server/share/doc/warpwright/rules "$root"/docs/rules/*.md
  install -D -m 644 -t server/share/warpwright "$bin"/../share/warpwright_runtime-*.whl
  for weights in policy.safetensors ranker.bin; do
    [ ! -f "$root/trainer/weights/$weights" ] || install -D -m 644 -t server/share/warpwright "$root/trainer/weights/$weights"
  done
  "$root/scripts/notices.py" programs "$(dirname "$bin")" server/share/warpwright
  pack warpwright-linux-x64.vsix --target linux-x64
fi
"$root/scripts/checksums.sh" "$packages"
