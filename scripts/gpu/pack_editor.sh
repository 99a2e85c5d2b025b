#!/usr/bin/env bash
# Packs what scripts/gpu/editor_session.sh needs on a machine that has a driver and no editor: the stripped programs, and this machine's
# own Neovim with its libraries and runtime files, started through nvim/nvim.
# usage: scripts/gpu/pack_editor.sh BIN_DIR ARCHIVE.tar.xz
set -euo pipefail
bin=$(realpath "$1")
archive=$(realpath -m "$2")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/bin" "$stage/nvim/lib"
for program in warpwright warpwright-runner; do strip -o "$stage/bin/$program" "$bin/$program"; done
cp -r "$bin/torch" "$stage/bin/torch"
strip "$stage/bin/torch/libwarpwright-worker.so"
find "$stage/bin" -name __pycache__ -prune -exec rm -rf {} +

program=$(realpath "$(command -v nvim)")
cp "$program" "$stage/nvim/nvim.bin"
ldd "$program" | awk '$3 ~ /^\// { print $3 } $1 ~ /^\/lib64/ { print $1 }' | xargs -I{} cp -L {} "$stage/nvim/lib/"
runtime=$(nvim --headless -u NONE -c 'lua io.stdout:write(vim.env.VIMRUNTIME)' -c qa 2>/dev/null)
tar -C "$runtime" --exclude=./doc --exclude=./tutor --exclude=./lang --exclude=./spell --exclude=./keymap -cf - . |
  (mkdir "$stage/nvim/runtime" && tar -C "$stage/nvim/runtime" -xf -)
cat >"$stage/nvim/nvim" <<'NVIM'
#!/bin/sh
here=$(dirname "$(realpath "$0")")
VIMRUNTIME=$here/runtime exec "$here/lib/ld-linux-x86-64.so.2" --library-path "$here/lib" "$here/nvim.bin" "$@"
NVIM
chmod +x "$stage/nvim/nvim"
mkdir -p "$(dirname "$archive")"
XZ_OPT="-T0 -6" tar -C "$stage" -cJf "$archive" .
ls -l "$archive"
