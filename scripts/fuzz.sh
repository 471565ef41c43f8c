#!/bin/sh
# Runs fuzz targets for FUZZTIME each and names those that failed:
#
#   scripts/fuzz.sh            every target of the module
#   scripts/fuzz.sh changed    those whose package, or a package or module that it imports, differs from BASE
#
# scripts/base.sh says what BASE is. Without such a commit every target runs. The seeds of all targets run as tests in any case.
#
# As many packages run at once as the machine has processors, each target with one worker.
set -eu

GO=${GO:-go}
FUZZTIME=${FUZZTIME:-20s}
export GO FUZZTIME

# One package: fuzz.sh run FOLDER. It is built once. Up to Go 1.26 the fuzzing engine may report its own deadline as a failure
# of the target (https://go.dev/issue/75804); a finding always leaves its input, so a bare deadline gets one more try.
if [ "${1-}" = run ]; then
	cd "$2"
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' HUP INT TERM
	names=$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*)\([a-z_]+ \*testing\.F\).*/\1/p' ./*_test.go)
	# -fuzz has the compiler count branches, for the engine.
	"$GO" test -c -vet=off -pgo=off -fuzz=. -o "$work/fuzz" . >"$work/said" 2>&1 || {
		echo "fuzz: $2: FAILED to build"
		cat "$work/said"
		exit 1
	}
	failed=0
	for name in $names; do
		for try in 1 2; do
			if "$work/fuzz" -test.run='^$' -test.fuzz="^$name\$" -test.fuzztime="$FUZZTIME" -test.parallel=1 -test.fuzzcachedir="$("$GO" env GOCACHE)/fuzz/edgeproxy/${2#./}" >"$work/said" 2>&1; then
				echo "fuzz: $name: $(grep '^fuzz: ' "$work/said" | tail -n 1)"
				break
			fi
			if [ "$try" = 2 ] || ! grep -q 'context deadline exceeded' "$work/said" || grep -qE 'Failing input|panic:' "$work/said"; then
				echo "fuzz: $2 $name: FAILED"
				cat "$work/said"
				failed=1
				break
			fi
			echo "fuzz: $name: only the engine's own deadline, once more"
		done
	done
	exit "$failed"
fi

cd "$(dirname "$0")/.."
folders=$(grep -rlE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*\([a-z_]+ \*testing\.F\)' ./cmd ./config ./internal ./loadtest ./scripts ./test |
	sed 's|/[^/]*$||' | sort -u)
if [ -z "$folders" ]; then
	echo "fuzz: no fuzz target found" >&2
	exit 1
fi

if [ "${1-}" = changed ]; then
	base=$(scripts/base.sh)
	if [ -n "$base" ]; then
		work=$(mktemp -d)
		trap 'rm -rf "$work"' EXIT
		trap 'exit 1' HUP INT TERM
		# What differs: folders as import paths, and modules whose version is another.
		git diff --name-only "$base" -- '*.go' '*/testdata/*' | sed -E 's|/testdata/.*||; s|/[^/]*\.go$||; s|^|edgeproxy/|' | sort -u >"$work/differs"
		git diff "$base" -- go.mod | sed -nE 's/^\+(require )?[[:space:]]*([^ ]+\.[^ ]+) v.*/\2/p' >>"$work/differs"
		chosen=
		for folder in $folders; do
			"$GO" list -deps -f '{{.ImportPath}}{{with .Module}}{{"\n"}}{{.Path}}{{end}}' "$folder" | sort -u >"$work/imports"
			if grep -qxFf "$work/differs" "$work/imports"; then
				chosen="$chosen$folder
"
			fi
		done
		echo "fuzz: $(printf %s "$chosen" | grep -c .) of $(echo "$folders" | grep -c .) packages with targets differ from $(git log -1 --format='%h of %cd' --date=iso "$base"), or import what does"
		folders=$chosen
	else
		echo "fuzz: there is no commit to compare with: every target runs"
	fi
fi
[ -n "$folders" ] || exit 0
printf '%s\n' "$folders" | grep . | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" scripts/fuzz.sh run || {
	echo "fuzz: failed" >&2
	exit 1
}
