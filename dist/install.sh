#!/bin/sh
# Installs the program crosier:  curl -fsSL URL/install.sh | sh
#
#   CROSIER_VERSION   the version to install (default: the newest)
#   CROSIER_BIN       the folder of the program (default: ~/.local/bin)
#   CROSIER_SOURCE    where the archives and SHA256SUMS are: a URL or a folder (default: the releases of the project)
#
# Nothing is installed unless the archive has the checksum that SHA256SUMS says.
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

releases=https://github.com/crosier-hooks/crosier/releases
version=${CROSIER_VERSION:-}
bin=${CROSIER_BIN:-${HOME:?HOME is not set}/.local/bin}
if [ -n "${CROSIER_SOURCE:-}" ]; then
  source=$CROSIER_SOURCE
elif [ -n "$version" ]; then
  source=$releases/download/v$version
else
  source=$releases/latest/download
fi

case $(uname -s) in
  Linux) system=unknown-linux-gnu ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no build for $(uname -s): Linux and macOS only" ;;
esac
case $(uname -m) in
  x86_64 | amd64) processor=x86_64 ;;
  aarch64 | arm64) processor=aarch64 ;;
  *) fail "there is no build for $(uname -m)" ;;
esac
archive=crosier-$processor-$system.tar.gz

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

fetch() {
  case $source in
    http://* | https://*)
      if command -v curl >/dev/null 2>&1; then
        curl -fsSL --proto '=https,http' -o "$folder/$1" "$source/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$folder/$1" "$source/$1"
      else
        fail "it needs curl or wget"
      fi ;;
    *) cp "$source/$1" "$folder/$1" ;;
  esac || fail "$source/$1 cannot be fetched"
}

sum() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

fetch SHA256SUMS
fetch "$archive"
expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$folder/SHA256SUMS")
[ -n "$expected" ] || fail "SHA256SUMS does not name $archive"
found=$(sum "$folder/$archive")
[ "$expected" = "$found" ] ||
  fail "$archive is not what was released: its checksum is $found, it should be $expected. Nothing was installed."

mkdir "$folder/unpacked"
tar -xzf "$folder/$archive" -C "$folder/unpacked" --strip-components 1
mkdir -p "$bin"
# Renamed into place: a crosier that runs at this moment keeps its own file.
cp "$folder/unpacked/bin/crosier" "$bin/.crosier.$$"
chmod 755 "$bin/.crosier.$$"
mv -f "$bin/.crosier.$$" "$bin/crosier"

"$bin/crosier" --version
echo "installed in $bin"
case :$PATH: in
  *":$bin:"*) ;;
  *) echo "add it to your PATH:  export PATH=\"$bin:\$PATH\"" ;;
esac
echo "next:  crosier init"
