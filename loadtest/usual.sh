#!/bin/sh
# Replays the usual three traces over all policies, one after the other.
#
#   loadtest/usual.sh [FOLDER] [FLAG...]
#
# FOLDER holds the traces; without it, TRACES says where, relative to the
# repository. The flags go to the driver.
#   LIMIT     use only the first LIMIT lines of each trace (a quick check)
#   CAPACITY  default 5%; with LIMIT 20%, as the start of a trace is small
#   RUNS      how often each policy runs, default 1; the figures are the means
#   REPORTS   an existing folder for a JSON report of each trace
#   HTML      an existing folder for a page of each trace
#   BASELINES what runs beside edgeproxy: nginx, trafficserver, both with a comma
#             between them, none, or all, those that are installed; default
#             all, with LIMIT none
set -eu

repo=$(cd "$(dirname "$0")/.." && pwd)
TRACES=${TRACES:-../shared/traces}
case ${1:-} in
'' | -*) cd "$repo" ;;
*)
	TRACES=$1
	shift
	;;
esac
if [ ! -d "$TRACES" ]; then
	echo "usual.sh: no folder $TRACES: give the folder with the traces as argument, or set TRACES" >&2
	exit 2
fi
TRACES=$(cd "$TRACES" && pwd)
LIMIT=${LIMIT:-0}
if [ "$LIMIT" -gt 0 ]; then
	CAPACITY=${CAPACITY:-20%}
	BASELINES=${BASELINES:-none}
fi
BASELINES=${BASELINES:-all}
CAPACITY=${CAPACITY:-5%}
REPORTS=${REPORTS:+$(cd "$REPORTS" && pwd)}
HTML=${HTML:+$(cd "$HTML" && pwd)}

cd "$repo"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
go build -o "$tmp/edgeproxy" ./cmd/edgeproxy
go build -o "$tmp/loadtest" ./loadtest

# replay TRACE FLAG... : one trace, with the flags of the command line last.
replay() {
	name=$1
	shift
	if [ ! -f "$TRACES/$name" ]; then
		echo "usual.sh: $TRACES has no $name" >&2
		return 1
	fi
	"$tmp/loadtest" --trace "$TRACES/$name" --edgeproxy "$tmp/edgeproxy" --policies always,second-hit,counting,chance,never \
		--capacity "$CAPACITY" --limit "$LIMIT" --baselines "$BASELINES" --runs "${RUNS:-1}" ${REPORTS:+--json-file "$REPORTS/$name.json"} \
		${HTML:+--html "$HTML/$name.html"} "$@"
}

status=0
for trace in adaptsize.tr nasa-1995-08-01.tsv apache-combined-2015.log; do
	replay "$trace" "$@" || status=1
	echo
done
exit $status
