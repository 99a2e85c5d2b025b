#!/usr/bin/env bash
# Packs editors/vscode into build/packages: warpwright.vsix, which finds the server by its setting
# or on the PATH. When a folder with the built programs is given, also warpwright-linux-x64.vsix or
# warpwright-linux-arm64.vsix, which brings them along (stripped). Needs npm and its registry once.
#
# Usage: scripts/package-vscode.sh [BIN]      BIN: build/release/bin Exit 77 (skipped) where there
# is no npm or its packages cannot be had.
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
npm run --silent check
stage=$(mktemp -d) # what is packed; sources stay as they are
trap 'rm -rf "$stage"' EXIT
npm run --silent build -- --log-level=warning --metafile="$stage/bundle.json"
"$root/scripts/notices.py" extension "$stage/bundle.json" . "$stage"
rm "$stage/bundle.json"
mv "$stage/LICENSE" "$stage/LICENSE.txt" # the name that vsce looks for
cp -r out media README.md .vscodeignore "$stage"
cp "$root/CHANGELOG.md" "$stage"
mkdir "$stage/examples"
cp "$root/examples/transpose.cu" "$stage/examples" # of the walkthrough

# The manifest with the version of the project, and the place of its sources if it has one.
repository=${REPOSITORY:-$(sed -n 's/^repository = "\(.*\)"$/\1/p' "$root/packaging/project.toml")}
node -e 'const [from, to, version, repository] = process.argv.slice(1);
  const manifest = { ...JSON.parse(require("fs").readFileSync(from)), version };
  if (repository) Object.assign(manifest, { repository: { type: "git", url: repository }, bugs: `${repository}/issues` });
  require("fs").writeFileSync(to, JSON.stringify(manifest, null, 2));' package.json "$stage/package.json" "$(<"$root/VERSION")" "$repository"
place=(--no-rewrite-relative-links)
[ -n "$repository" ] || place+=(--allow-missing-repository)

mkdir -p "$packages"
vsce=$PWD/node_modules/.bin/vsce
pack() { # NAME, then options of vsce
  (cd "$stage" && "$vsce" package --no-dependencies "${place[@]}" -o "$packages/$1" "${@:2}" >"$stage.log") ||
    { cat "$stage.log" >&2; rm "$stage.log"; exit 1; }
  rm "$stage.log"
  echo "$packages/$1"
}

pack warpwright.vsix
if [ -n "$bin" ]; then
  cached() { sed -n "s/^$1:[A-Z]*=//p" "$bin/../CMakeCache.txt"; }
  system=$(cached WARPWRIGHT_SYSTEM) strip=$(cached CMAKE_STRIP)
  target=linux-${system/x86_64/x64}
  cd "$stage"
  mkdir -p server/bin server/share/doc/warpwright
  for program in warpwright warpwright-runner warpwright-worker-cpu warpwright-collect libwarpwright-capture.so; do
    [ ! -x "$bin/$program" ] || "$strip" -o "server/bin/$program" "$bin/$program"
  done
  [ ! -d "$bin/torch" ] || cp -r "$bin/torch" server/bin/torch
  find server -name __pycache__ -prune -exec rm -rf {} +
  find server/bin/torch -name '*.so' -exec "$strip" {} +
  cp "$root"/docs/*.md server/share/doc/warpwright
  for folder in use operate internals rules; do
    install -D -m 644 -t "server/share/doc/warpwright/$folder" "$root/docs/$folder"/*.md
  done
  install -D -m 644 -t server/share/warpwright "$bin"/../share/warpwright_runtime-*.whl
  for weights in policy.safetensors ranker.bin; do
    [ ! -f "$root/trainer/weights/$weights" ] || install -D -m 644 -t server/share/warpwright "$root/trainer/weights/$weights"
  done
  "$root/scripts/notices.py" programs "$(dirname "$bin")" server/share/warpwright
  pack "warpwright-$target.vsix" --target "$target"
fi
"$root/scripts/checksums.sh" "$packages"
