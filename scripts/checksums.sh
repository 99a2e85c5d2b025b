#!/usr/bin/env bash
# Writes SHA256SUMS over the packages in a folder (overwrites the file). usage: scripts/checksums.sh PACKAGES_DIR
set -euo pipefail
cd "$1"
shopt -s nullglob
files=(*.tar.xz *.deb *.whl *.vsix *.spdx.json)
[ ${#files[@]} -gt 0 ] || { echo "checksums: there are no packages in $1" >&2; exit 1; }
sha256sum "${files[@]}" >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
