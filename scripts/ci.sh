#!/bin/sh
# Runs checks in turn: those that are named, else all: scripts/ci.sh [STEP...]. A check that fails does not hide the next one;
# the end names those that failed, and has a table of the steps and of the slowest tests, which stays in .cache/ci.txt.
#
# The last line, kept in .cache/closing as well, counts the tests, each once however often it ran. A check that failed without
# a failed test, such as lint, counts as one failure, and so does a test that left itself to a run that did not come. Up to two
# shaky tests (scripts/gotest) are let through; the line before the last one counts them.
set -u

make=${MAKE:-make}
GOTEST_TALLY=$PWD/.cache/tally
export GOTEST_TALLY
steps=.cache/steps
mkdir -p .cache
rm -f .cache/closing .cache/ci.txt
: >"$GOTEST_TALLY"
: >"$steps"
failed=

failures() {
	grep -c '^fail' "$GOTEST_TALLY"
}

# step NAME [VAR=value]...: one target of the Makefile.
step() {
	begin=$(date +%s)
	before=$(failures)
	echo "== $1"
	if "$make" --no-print-directory "$@"; then
		verdict=ok
	else
		verdict=FAILED
		failed="$failed $1"
		[ "$(failures)" -gt "$before" ] || printf 'fail\tmake\t%s\t0\t%s\n' "$1" "$1" >>"$GOTEST_TALLY"
	fi
	seconds=$(($(date +%s) - begin))
	echo "== $1: $verdict, $seconds s"
	printf '%s\t%s\t%s\n' "$1" "$seconds" "$verdict" >>"$steps"
}

# named STEP: the step by its name, with what it needs.
named() {
	case $1 in
	fuzz-changed) step fuzz-changed FUZZTIME="${FUZZTIME:-5s}" ;;
	load) step load LIMIT="${LIMIT:-5000}" ;;
	*) step "$1" ;;
	esac
}

begun=$(date +%s)
# The tests that measure come last, when nothing else runs.
if [ $# -eq 0 ]; then
	# Tests of foreign programs that take minutes to build leave themselves out where nothing has changed that they look at.
	EDGEPROXY_TEST_SINCE=$(scripts/base.sh) || exit 1
	export EDGEPROXY_TEST_SINCE
	set -- build fmt-check tidy-check vet lint race plain fuzz-changed smoke conformance axe readme load measure
fi
for name in "$@"; do
	named "$name"
done

{
	echo
	awk -F '\t' '{ printf "%-14s %5d s  %s\n", $1, $2, $3; sum += $2 } END { printf "%-14s %5d s\n", "all", sum }' "$steps"
	echo
	echo "The slowest tests:"
	awk -F '\t' '$1 == "took" && $4 >= 2 { printf "%s\t%s.%s\t%s\n", $4, $2, $3, $5 }' "$GOTEST_TALLY" | sort -rn | head -n 20 |
		awk -F '\t' '{ printf "%7.1f s  %-9s %s\n", $1, $3, $2 }'
	echo
} | tee .cache/ci.txt

# A test that failed in any run has failed. A test that a run has left to another is done when any run has its result.
awk -F '\t' '
	{ test = $2 "." $3; name = $3; sub(/\/.*/, "", name); top = $2 "." name }
	$1 == "fail" { fail[test] = 1; ran[top] = 1 }
	$1 == "pass" { pass[test] = 1; ran[top] = 1 }
	$1 == "skip" { skip[test] = 1; ran[top] = 1 }
	$1 == "shaky" { shaky[test] = 1; ran[top] = 1 }
	$1 == "left-same" { same[top] = 1; next }
	$1 ~ /^left-/ { left[top] = $1 }
	END {
		for (t in same) if (!(t in ran)) print "left to make test-all, since nothing that it looks at has changed: " t
		for (t in left) if (!(t in ran) && !(t in same)) { notRun++; sub(/^left-/, "", left[t]); print "left to another run, which did not come: " t " (" left[t] ")" }
		for (t in fail) { failed++; delete pass[t]; delete skip[t]; delete shaky[t] }
		for (t in shaky) { unsteady++; delete pass[t]; delete skip[t] }
		for (t in pass) { passed++; delete skip[t] }
		for (t in skip) skipped++
		failed += notRun
		if (unsteady > 2) { print "shaky: " unsteady " tests, at most 2 are let through"; failed++ }
		if (unsteady) printf "%d passed, %d failed, %d shaky\n", passed, failed, unsteady
		printf "%d passed, %d failed", passed + unsteady, failed
		if (skipped) printf ", %d skipped", skipped
		print ""
		exit failed > 0
	}' "$GOTEST_TALLY" >.cache/counted || failed="$failed tests"
sed '$d' .cache/counted
if [ -n "$failed" ]; then
	echo "ci: failed:$failed"
else
	echo "ci: every check passed, $(($(date +%s) - begun)) s"
fi
tail -n 1 .cache/counted | tee .cache/closing
[ -z "$failed" ]
