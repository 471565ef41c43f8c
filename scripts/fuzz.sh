#!/bin/sh
# Runs every fuzz target of the module for FUZZTIME and names those that failed.
set -eu

go=${GO:-go}
time=${FUZZTIME:-20s}

# fuzz DIR NAME: one target. Up to Go 1.26 the fuzzing engine may report its own
# deadline as a failure of the target (https://go.dev/issue/75804); a finding
# always leaves its input, so a bare deadline gets one more try.
fuzz() {
	for try in 1 2; do
		echo "fuzz: $1 $2"
		if "$go" test -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1" >"$out" 2>&1; then
			tail -n 1 "$out"
			return 0
		fi
		if [ "$try" = 2 ] || ! grep -q 'context deadline exceeded' "$out" || grep -qE 'Failing input|panic:' "$out"; then
			cat "$out"
			return 1
		fi
		echo "fuzz: $2: only the engine's own deadline, once more"
	done
}

targets=$(grep -rE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\([a-z_]+ \*testing\.F\)' . |
	sed -E 's|/[^/]*_test\.go:func ([A-Za-z0-9_]*).*| \1|' | sort -u)
if [ -z "$targets" ]; then
	echo "fuzz: no fuzz target found" >&2
	exit 1
fi

out=$(mktemp)
trap 'rm -f "$out"' EXIT
trap 'exit 1' HUP INT TERM

failed=
# A here-document, not a pipe: a pipe would lose $failed in a subshell.
while read -r dir name; do
	fuzz "$dir" "$name" </dev/null || failed="$failed $name"
done <<EOF
$targets
EOF

if [ -n "$failed" ]; then
	echo "fuzz: failed:$failed" >&2
	exit 1
fi
