#!/usr/bin/env bash
# Makes the installable packages of a finished build:
#   warpwright-VERSION-linux-SYSTEM.tar.xz       programs, docs, examples, Neovim plugin
#   warpwright_VERSION_ARCHITECTURE.deb          the same for Debian, Ubuntu and the like
#   warpwright.nvim/                             the Neovim plugin as a directory
#   warpwright-VERSION-py3-none-*.whl            the backend of torch.compile (scripts/wheel.py)
#   warpwright.vsix, warpwright-linux-*.vsix     by scripts/package-vscode.sh, if npm is there
#   warpwright-VERSION-source.tar.xz             the committed sources (THIRD_PARTY.txt gives the reason)
#   warpwright-VERSION.spdx.json                 the software inside each package (scripts/sbom.py)
#   SHA256SUMS                                   of every file; check with `sha256sum -c SHA256SUMS`
# SYSTEM is that of the build, x86_64 or arm64. Packages of the other system stay.
# Builds nothing. `make test-editors` installs and uses each package, tests/torch/wheel the wheel.
# usage: scripts/package.sh BUILD_DIR OUT_DIR [KIND...]
#   KINDs: archive deb neovim wheel vscode source; all of them by default
set -euo pipefail
build=$(realpath "$1")
out=$(realpath -m "$2")
kinds=" ${*:3} "
[ $# -gt 2 ] || kinds=" archive deb neovim wheel vscode source "
cd "$(dirname "$0")/.."
mkdir -p "$out"
version=$(<VERSION)
system=$(sed -n 's/^WARPWRIGHT_SYSTEM:INTERNAL=//p' "$build/CMakeCache.txt")

# The plugin with the index of its help, as `:helptags` writes it: tag, file and pattern, sorted by bytes.
plugin=$build/warpwright.nvim
rm -rf "$plugin"
mkdir -p "$plugin/doc"
cp -r editors/neovim/{lsp,lua,plugin,README.md} "$plugin/"
cp editors/neovim/doc/*.txt "$plugin/doc/"
cp LICENSE NOTICE "$plugin/"
grep -oE '(^|[[:space:]])\*[^*|[:space:]]+\*([[:space:]]|$)' "$plugin/doc/warpwright.txt" | tr -d '*[:blank:]' | LC_ALL=C sort |
  while read -r tag; do printf '%s\twarpwright.txt\t/*%s*\n' "$tag" "$tag"; done >"$plugin/doc/tags"
if [[ $kinds == *" neovim "* ]]; then
  rm -rf "$out/warpwright.nvim"
  cp -r "$plugin" "$out/warpwright.nvim"
fi

pack() { # pack GENERATOR FILE [OPTION...]
  local work=$build/packing
  rm -rf "$work" "$out"/$2
  (cd "$build" && cpack -G "$1" -B "$work" "${@:3}" >"$build/packing.log") || { cat "$build/packing.log" >&2; exit 1; }
  mv "$work"/$2 "$out/"
  rm -rf "$work"
}
[[ $kinds != *" archive "* ]] || pack TXZ "warpwright-*-linux-$system.tar.xz"
[[ $kinds != *" deb "* ]] || pack DEB "warpwright_*_${system/x86_64/amd64}.deb" -D CPACK_PACKAGING_INSTALL_PREFIX=/usr
[[ $kinds != *" wheel "* ]] || scripts/wheel.py "$build" "$out"
if [[ $kinds == *" vscode "* ]]; then
  status=0
  scripts/package-vscode.sh "$build/bin" || status=$?
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || exit "$status"
fi
if [[ $kinds == *" source "* ]]; then
  if commit=$(git describe --always 2>/dev/null); then
    rm -f "$out"/warpwright-*-source.tar.xz
    git archive --prefix="warpwright-$version/" HEAD | xz -T0 -6 >"$out/warpwright-$version-source.tar.xz"
    [ -z "$(git status --porcelain --untracked-files=no)" ] ||
      echo "package: the sources are those of commit $commit; changes that are not committed are left out" >&2
  else
    echo "package: this is no git checkout, so no archive of the sources is made" >&2
  fi
fi
rm -f "$out"/*.spdx.json
scripts/sbom.py "$out" "$out/warpwright-$version.spdx.json"
scripts/checksums.sh "$out"
ls -l "$out"
