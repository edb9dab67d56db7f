"""The scripts that run at a host, in the shell that POSIX requires. They hold no user's text."""

from __future__ import annotations

# The debugger that `setup --host` installs comes before one of the user's own. 127 is what a shell
# says of a command that is not there.
FIND_DEBUGGER = """\
own="${XDG_DATA_HOME:-$HOME/.local/share}/debugger-cli/host/bin/debugger"
for each in "$own" "$(command -v debugger)" "$HOME/.local/bin/debugger"; do
  if [ -n "$each" ] && [ -x "$each" ]; then exec "$each" "$@"; fi
done
echo "debugger: not installed" >&2
exit 127
"""

# Prints `debugger-setup: python X.Y PLATFORM`, where a debugger can be installed.
PROBE_PYTHON = """\
for python in python3 python3.14 python3.13 python3.12 python3.11; do
  if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    exec "$python" -c 'import platform, sys
print("debugger-setup: python", "%d.%d" % sys.version_info[:2], platform.machine(),
      platform.libc_ver()[0] or "other")'
  fi
done
echo "debugger-setup: no-python" >&2
exit 1
"""

# Installs the wheels of the tar file on standard input where FIND_DEBUGGER looks first. $1 is what
# pip is to install; $2 is `offline` where all that it requires is among the wheels. The new
# environment takes the old one's place only when it is complete.
INSTALL_DEBUGGER = """\
base="${XDG_DATA_HOME:-$HOME/.local/share}/debugger-cli"
fail() { echo "debugger-setup: $1" >&2; exit 1; }
for python in python3 python3.14 python3.13 python3.12 python3.11 ""; do
  [ -n "$python" ] || fail no-python
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break
done
umask 077
mkdir -p "$base" || fail no-folder
# What an installation has left that was killed: nothing else takes so long.
find "$base" -maxdepth 1 -name 'setup.*' -mmin +60 -exec rm -rf {} + 2>/dev/null
staging="$(mktemp -d "$base/setup.XXXXXX")" || fail no-folder
trap 'rm -rf "$staging"' EXIT
# PIPE: the connection has ended, and nobody reads what is said.
trap 'exit 1' HUP INT TERM PIPE
cat > "$staging/wheels.tar" || fail no-space
"$python" -m tarfile -e "$staging/wheels.tar" "$staging/wheels" || fail no-space
# Its scripts name the folder that they are made in: it is made where it stays.
[ ! -d "$base/host" ] || mv "$base/host" "$staging/before" || fail no-folder
undo() { rm -rf "$base/host"; [ ! -d "$staging/before" ] || mv "$staging/before" "$base/host"; }
trap 'undo; rm -rf "$staging"' EXIT
# The output is not written to a file, and room is looked for: the disk may be full.
log="$("$python" -m venv "$base/host" 2>&1)" || {
  printf '%s\\n' "$log" | tail -n 5 >&2
  head -c 1000000 /dev/zero > "$staging/room"
  fail no-venv
}
index=""
[ "$2" != offline ] || index=--no-index
"$base/host/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --retries 1 \\
  $index --find-links "$staging/wheels" "$1" >&2 || fail no-pip
"$base/host/bin/debugger" --version >&2 || fail no-start
trap 'rm -rf "$staging"' EXIT
"""
