#!/bin/sh
# Plays the Python of a container, whose pip needs no network: what it installs is the debugger
# under test, run by $REAL_PYTHON. With $PIP_FAILS pip says what it says without an index.
case "$1 $2" in
"-m venv")
  mkdir -p "$3/bin"
  cp "$0" "$3/bin/python"
  ;;
"-m pip")
  echo "$*" >> "$HOME/pip.log"
  if [ -e "$HOME/no-index" ]; then
    echo "ERROR: Could not find a version that satisfies the requirement msgspec" >&2
    exit 1
  fi
  command="$(dirname "$0")/debugger"
  printf '#!/bin/sh\nexec "%s" -P -m debugger "$@"\n' "$REAL_PYTHON" > "$command"
  chmod +x "$command"
  ;;
*)
  exec "$REAL_PYTHON" "$@"
  ;;
esac
