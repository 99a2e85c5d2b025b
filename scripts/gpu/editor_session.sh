#!/usr/bin/env bash
# A whole editor session against a runner that is reached over TLS: a certificate and a token are made, the runner serves, and a
# headless Neovim with the plugin opens, optimizes, cancels, previews and applies in a CUDA file and in a Python module. What was said
# (transcript.jsonl), what the hovers showed and the applied texts go to OUT_DIR. Without a Neovim the scripted client of
# tests/e2e does the same over the same runner.
# usage: scripts/gpu/editor_session.sh BIN_DIR OUT_DIR [NVIM]
# From the environment: SESSION_DEVICE=cpu tries the script without a GPU; SESSION_SECONDS (180) ends a session that hangs;
# CUDA_VISIBLE_DEVICES says which GPU, as everywhere.
set -euo pipefail
bin=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
nvim=${3:-$(command -v nvim || true)}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill "$runner" 2>/dev/null; rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state XDG_DATA_HOME=$work/data XDG_CACHE_HOME=${XDG_CACHE_HOME:-$work/cache} XDG_CONFIG_HOME=$work/config
mkdir -p "$XDG_CACHE_HOME"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout "$work/runner.key" -out "$work/runner.pem" \
  -subj /CN=localhost -addext "subjectAltName=DNS:localhost" 2>/dev/null
(umask 077 && openssl rand -hex 32 >"$work/token")
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$bin/warpwright-runner" serve --listen "tls://127.0.0.1:$port" --cert "$work/runner.pem" --key "$work/runner.key" \
  --token-file "$work/token" >"$out/runner.log" 2>&1 &
runner=$!
url="tls://localhost:$port?ca=$work/runner.pem&token-file=$work/token"
until "$bin/warpwright" doctor --runner "$url" >"$out/doctor.txt" 2>&1; do
  [ "$SECONDS" -lt 30 ] && kill -0 "$runner" && [ -x "$bin/warpwright" ] || { cat "$out/doctor.txt" "$out/runner.log"; exit 1; }
  sleep 0.2
done
cat "$out/doctor.txt"

if [ -z "$nvim" ]; then
  WARPWRIGHT_BIN=$bin WARPWRIGHT_EXAMPLES=$PWD/examples WARPWRIGHT_RUNNER_URL=$url "${LSP_GPU_SESSION:-build/release/tests/lsp_gpu_session}" |
    tee "$out/session.txt"
  exit "${PIPESTATUS[0]}"
fi
cp examples/transpose.cu examples/torch/rms_norm.py "$work/"
finds_torch='import torch; assert torch.cuda.is_available()'
if [ "${SESSION_DEVICE:-}" = cpu ]; then # the CPU backend takes seconds for few elements, not minutes
  sed -i -E 's/= (4096|8192);/= 64;/' "$work/transpose.cu"
  sed -i -E 's/8192, 2048/64, 64/g; s/init 2048/init 64/' "$work/rms_norm.py"
  finds_torch='import torch'
fi
if [ "${WARPWRIGHT_READS_PYTHON:-1}" != 0 ] && "${WARPWRIGHT_PYTHON:-python3}" -c "$finds_torch" 2>/dev/null; then
  export SESSION_MODULE=$work/rms_norm.py SESSION_CLASS=GatedRmsNorm
fi
export WARPWRIGHT=$bin/warpwright WARPWRIGHT_PLUGIN=$PWD/editors/neovim WARPWRIGHT_TESTS=$PWD/tests/editors/neovim
export SESSION_OUT=$out SESSION_CUDA=$work/transpose.cu SESSION_KERNEL=transpose SESSION_RUNNER=$url
export SESSION_TRANSCRIPT=$PWD/tests/editors/transcript.py SESSION_BUDGET=${SESSION_BUDGET:-30s}
"$nvim" --version | head -n 1 | tee "$out/session.txt"
timeout -k 5 "${SESSION_SECONDS:-180}" "$nvim" --headless -n -u tests/editors/neovim/gpu_session.lua 2>&1 </dev/null | tee -a "$out/session.txt"
status=${PIPESTATUS[0]}
cp "$XDG_STATE_HOME/warpwright/ledger.sqlite" "$out/" 2>/dev/null || true # what was measured, as the editors read it
sed -i "s#$work#/home/user#g; s#$bin#/home/user/bin#g; s#$PWD#/home/user/warpwright#g" "$out"/*.jsonl "$out"/*.txt "$out"/*.log
exit "$status"
