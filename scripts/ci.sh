#!/bin/sh
# Runs every check in turn. A check that fails does not hide the next one; the
# end names those that failed. The last line, kept in .cache/closing as well,
# counts the tests, each once however often it ran. A check that failed without
# a failed test, such as lint, counts as one failure.
set -u

make=${MAKE:-make}
GOTEST_TALLY=$PWD/.cache/tally
export GOTEST_TALLY
mkdir -p .cache
rm -f .cache/closing
: >"$GOTEST_TALLY"
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
		echo "== $1: ok, $(($(date +%s) - begin)) s"
	else
		echo "== $1: FAILED, $(($(date +%s) - begin)) s"
		failed="$failed $1"
		[ "$(failures)" -gt "$before" ] || printf 'fail\tmake %s\n' "$1" >>"$GOTEST_TALLY"
	fi
}

step build
step fmt-check
step tidy-check
step vet
step lint
# hostile and alloc are parts of test.
step test
step race
step on-disk
step fuzz FUZZTIME="${FUZZTIME:-5s}"
if [ -x scripts/smoke.sh ]; then
	step smoke
else
	echo "== smoke: left out, scripts/smoke.sh is not there"
fi
step release-check
step conformance
step axe
step readme
if [ -x loadtest/usual.sh ]; then
	# The script knows where the traces are when nobody says so.
	traces=${TRACES:-$(sed -n 's/^TRACES=${TRACES:-\(.*\)}$/\1/p' loadtest/usual.sh)}
	if [ -z "$traces" ] || [ -d "$traces" ]; then
		step load LIMIT="${LIMIT:-5000}"
	else
		echo "== load: left out, there are no traces in $traces"
	fi
else
	echo "== load: left out, loadtest/usual.sh is not there"
fi

if [ -n "$failed" ]; then
	echo "ci: failed:$failed"
else
	echo "ci: every check passed"
fi
# A test that failed in any run has failed.
awk -F '\t' '
	$1 == "fail" { fail[$2] = 1 }
	$1 == "pass" { pass[$2] = 1 }
	$1 == "skip" { skip[$2] = 1 }
	END {
		for (t in fail) { failed++; delete pass[t]; delete skip[t] }
		for (t in pass) { passed++; delete skip[t] }
		for (t in skip) skipped++
		printf "%d passed, %d failed", passed, failed
		if (skipped) printf ", %d skipped", skipped
		print ""
	}' "$GOTEST_TALLY" | tee .cache/closing
[ -z "$failed" ]
