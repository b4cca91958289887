#!/usr/bin/env bash
# Install the Debian packages of the given groups (see packages.txt) that are missing. When nothing
# is missing this is one call of dpkg-query. Without the right to install, print the line to run.
#
#   scripts/setup.sh build test
set -euo pipefail
list="$(dirname "$0")/packages.txt"

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; the parts named in docs/DEPENDENCIES.md must be installed" >&2
  exit 0
fi

wanted=()
while read -r package group _; do
  for asked in "$@"; do
    [ "$group" = "$asked" ] && wanted+=("$package")
  done
done < <(grep -v '^#' "$list")

# dpkg-query names what it knows and fails on what it does not: take what it says is installed.
installed=" $(dpkg-query -W -f='${Status}=${Package} ' "${wanted[@]}" 2>/dev/null |
  grep -o 'ok installed=[^ ]*' | cut -d= -f2 | tr '\n' ' ')" || true
missing=()
for package in "${wanted[@]}"; do
  [[ "$installed" == *" $package "* ]] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

install=(apt-get install -y -q --no-install-recommends "${missing[@]}")
if [ "$(id -u)" -eq 0 ]; then
  as_root=(env DEBIAN_FRONTEND=noninteractive)
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
else
  {
    echo "setup: these packages are missing and may not be installed without a password:"
    echo "  ${missing[*]}"
    echo "setup: run this line, then the same make command again:"
    echo "  sudo apt-get install -y --no-install-recommends ${missing[*]}"
  } >&2
  exit 1
fi

echo "setup: installing ${missing[*]}"
"${as_root[@]}" apt-get update -q </dev/null ||
  echo "setup: apt-get update failed; trying with the package lists at hand" >&2
"${as_root[@]}" "${install[@]}" </dev/null
