#!/bin/sh
# Installs other hook systems from the ordinary registries into a folder outside the repository, for the bench to
# compare with. Each may fail on its own: the bench leaves out what it does not find, and says so.
#
#   bench/peers/install.sh ~/.cache/crosier-peers
#   cargo run --release -p bench -- --peers ~/.cache/crosier-peers
set -u
cache=${1:-${BENCH_PEERS:-}}
if [ -z "$cache" ]; then
    echo "usage: install.sh FOLDER (or set BENCH_PEERS)" >&2
    exit 64
fi
mkdir -p "$cache" && cache=$(cd "$cache" && pwd) || exit 1
case "$cache/" in
"$(cd "$(dirname "$0")/../.." && pwd)"/*)
    echo "the folder must be outside the repository" >&2
    exit 64
    ;;
esac

failed=0
try() {
    echo "… $1" >&2
    shift
    "$@" >"$cache/install.log" 2>&1 || { echo "  not installed; the end of its log:" >&2; tail -3 "$cache/install.log" >&2; failed=1; }
}

if command -v python3 >/dev/null; then
    # The interpreter itself, not a shim in front of it.
    [ -x "$cache/python/bin/python" ] || try venv "$(python3 -c 'import sys; print(sys.executable)')" -m venv "$cache/python"
    pip="$cache/python/bin/pip"
    try pluggy "$pip" install --quiet pluggy
    try claude-agent-sdk "$pip" install --quiet claude-agent-sdk
    # MassGen alone, without the hundreds of megabytes of its model clients: its hook manager needs only these.
    try massgen "$pip" install --quiet --no-deps massgen
    try "what MassGen's hooks import" "$pip" install --quiet loguru pyyaml
    try prek "$pip" install --quiet prek
    try lefthook "$pip" install --quiet lefthook
    try nah "$pip" install --quiet nah
    # The programs themselves: what pip puts into bin may be a script that starts python first.
    mkdir -p "$cache/bin"
    for name in prek lefthook; do
        program=$(find "$cache/python/bin" "$cache/python/lib" -name "$name" -type f -size +500k -perm -u+x | head -1)
        [ -n "$program" ] && ln -sf "$program" "$cache/bin/$name"
    done
else
    echo "no python3: pluggy, claude-agent-sdk, massgen, prek and lefthook are left out" >&2
    failed=1
fi

if command -v npm >/dev/null; then
    mkdir -p "$cache/node"
    try tapable npm install --prefix "$cache/node" --no-audit --no-fund --ignore-scripts tapable
    try gemini-cli-core npm install --prefix "$cache/node" --no-audit --no-fund --ignore-scripts @google/gemini-cli-core
else
    echo "no npm: tapable and gemini-cli-core are left out" >&2
    failed=1
fi
exit $failed
