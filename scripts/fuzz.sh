#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME and names those that failed.
# As many targets run at once as the machine has processors, each with one worker.
set -eu

GO=${GO:-go}
FUZZTIME=${FUZZTIME:-20s}
export GO FUZZTIME

# One target: fuzz.sh DIR NAME. Up to Go 1.26 the fuzzing engine may report its
# own deadline as a failure of the target (https://go.dev/issue/75804); a finding
# always leaves its input, so a bare deadline gets one more try.
if [ $# = 2 ]; then
	out=$(mktemp)
	trap 'rm -f "$out"' EXIT
	trap 'exit 1' HUP INT TERM
	for try in 1 2; do
		if "$GO" test -run '^$' -fuzz "^$2\$" -fuzztime "$FUZZTIME" -parallel 1 "$1" >"$out" 2>&1; then
			echo "fuzz: $2: $(tail -n 1 "$out")"
			exit 0
		fi
		if [ "$try" = 2 ] || ! grep -q 'context deadline exceeded' "$out" || grep -qE 'Failing input|panic:' "$out"; then
			echo "fuzz: $1 $2: FAILED
$(cat "$out")"
			exit 1
		fi
		echo "fuzz: $2: only the engine's own deadline, once more"
	done
fi

targets=$(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\([a-z_]+ \*testing\.F\)' . |
	sed -E 's|/[^/]*_test\.go:func ([A-Za-z0-9_]*).*| \1|' | sort -u)
if [ -z "$targets" ]; then
	echo "fuzz: no fuzz target found" >&2
	exit 1
fi

echo "$targets" | xargs -n 2 -P "$(getconf _NPROCESSORS_ONLN)" "$0" || {
	echo "fuzz: failed" >&2
	exit 1
}
