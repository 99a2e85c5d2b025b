#!/usr/bin/env bash
# Records the commands of docs/first-ten-minutes.md that need a GPU, on a machine that has one. Writes
# OUT_DIR/gpu.json, which becomes tests/first_minutes/recorded/gpu.json. Uses the programs of
# scripts/gpu/first_minutes_pack.sh, and Python 3 with PyTorch and pip. Run it as root.
# usage: scripts/gpu/first_minutes.sh ARCHIVE.tar.xz OUT_DIR
set -euo pipefail
mkdir -p "$2"
out=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
tar -C "$work" -xJf "$1"
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -eq 0 ]; then # what the packages of sshd would have made
  grep -q '^sshd:' /etc/passwd || echo 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin' >>/etc/passwd
  mkdir -p /run/sshd && chmod 755 /run/sshd
fi
export PATH=$work/ssh:$PATH SSHD=$work/ssh/sshd
python3 -B tests/first_minutes/first_minutes.py record-gpu "$out/gpu.json" "$work/bin" "$work/wheel"
