#!/bin/sh
# One request the whole way: planned, run, answered, looked at, taken back. In a folder of its own, thrown away after.
set -eu

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
trap 'exit 130' INT TERM
export SUREFOOT_DATA_DIR="$home/data" SUREFOOT_CONFIG_DIR="$home/config"
export SUREFOOT_MODEL="${SUREFOOT_DEMO_MODEL:-local:qwen2.5-coder-1.5b}"

# Shows a command as one would type it, and runs it.
run() {
  printf '\n$'
  for word in "$@"; do
    case "$word" in
      *[!a-zA-Z0-9_.:/=-]*) printf ' "%s"' "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$@"
}

python "$(dirname "$0")/demo_seed.py"

printf '\n--- before ---\n'
run surefoot notes list
run surefoot tasks list

printf '\n--- the request ---\n'
status=0
run surefoot ask "Note that Anna's birthday is on 3 May, add a task to buy a present the day before, and tell me what else I have on my list that week" || status=$?
run surefoot show last

printf '\n--- after ---\n'
run surefoot notes list
run surefoot tasks list

printf '\n--- and back ---\n'
run surefoot undo last
run surefoot notes list
run surefoot tasks list

exit "$status"
