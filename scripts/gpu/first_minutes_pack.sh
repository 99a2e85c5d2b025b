#!/usr/bin/env bash
# Packs programs that scripts/gpu/first_minutes.sh needs on a machine with a driver and PyTorch but
# without an OpenSSH server: the stripped programs of a build, the wheel, and this machine's own ssh,
# sshd and ssh-keygen with their libraries and loader.
# usage: scripts/gpu/first_minutes_pack.sh BIN_DIR WHEEL_DIR ARCHIVE.tar.xz
set -euo pipefail
bin=$(realpath "$1")
wheels=$(realpath "$2")
archive=$(realpath -m "$3")
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/bin" "$stage/wheel" "$stage/ssh/lib" "$(dirname "$archive")"
for program in warpwright warpwright-runner; do strip -o "$stage/bin/$program" "$bin/$program"; done
cp -r "$bin/torch" "$stage/bin/torch"
strip "$stage/bin/torch/libwarpwright-worker.so"
find "$stage/bin" -name __pycache__ -prune -exec rm -rf {} +
cp "$wheels"/warpwright-*.whl "$stage/wheel/"
mkdir -p "$stage/share/warpwright" && cp "$(dirname "$0")/../../trainer/weights/ranker.bin" "$stage/share/warpwright/" # as a package has it

for program in ssh sshd ssh-keygen; do
  path=$(PATH=$PATH:/usr/sbin command -v "$program")
  cp -L "$path" "$stage/ssh/$program.bin"
  ldd "$path" | awk '$3 ~ /^\// { print $3 } $1 ~ /^\/lib64/ { print $1 }' | xargs -I{} cp -L {} "$stage/ssh/lib/"
  # sshd starts itself again for each connection by the name that it was started with: this script.
  cat >"$stage/ssh/$program" <<PROGRAM
#!/bin/sh
here=\$(dirname "\$(realpath "\$0")")
exec "\$here/lib/ld-linux-x86-64.so.2" --argv0 "\$here/$program" --library-path "\$here/lib" "\$here/$program.bin" "\$@"
PROGRAM
  chmod +x "$stage/ssh/$program"
done
XZ_OPT="-T0 -6" tar -C "$stage" -cJf "$archive" .
ls -l "$archive"
