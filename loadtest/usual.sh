#!/bin/sh
# Replays the usual three traces over all policies, one after the other. With DISK it
# replays AdaptSize's trace and Akamai's model over always and second-hit, with a disk,
# one request after the other, and exits with 1 where a bar does not hold:
#   - second-hit has at least 44% fewer bytes written to the disk than always;
#   - each byte hit ratio is within half a point of what edgeproxy simulate foretells;
#   - on the even model that of second-hit is not below that of always.
# With LIMIT no bar is held: the start of a trace says little.
#
#   loadtest/usual.sh [FOLDER] [FLAG...]
#
# FOLDER holds the traces; without it, TRACES says where, relative to the
# repository. Without either it replays generated requests, so that it runs from a clone alone. The flags go to the driver.
#   LIMIT     use only the first LIMIT lines of each trace (a quick check)
#   CAPACITY  default 5%; with LIMIT 20%, as the start of a trace is small
#   DISK      a disk behind the memory, such as 10%; CAPACITY is 1% then by default
#   OBJECTS   of the model, default 25000: a sixteenth
#   RUNS      how often each policy runs, default 1; the figures are the means
#   REPORTS   an existing folder for a JSON report of each trace
#   HTML      an existing folder for a page of each trace
#   BASELINES what runs beside edgeproxy: nginx, trafficserver, both with a comma
#             between them, none, or all, those that are installed; default
#             all, with LIMIT none
set -eu

repo=$(cd "$(dirname "$0")/.." && pwd)
given=${TRACES:-}
TRACES=${TRACES:-../shared/traces}
case ${1:-} in
'' | -*) cd "$repo" ;;
*)
	TRACES=$1 given=$1
	shift
	;;
esac
if [ -d "$TRACES" ]; then
	TRACES=$(cd "$TRACES" && pwd)
elif [ -n "$given" ] || [ -n "${DISK:-}" ]; then
	echo "usual.sh: no folder $TRACES: give the folder with the traces as argument, or set TRACES" >&2
	exit 2
else
	TRACES= # generated requests
fi
LIMIT=${LIMIT:-0}
if [ "$LIMIT" -gt 0 ]; then
	CAPACITY=${CAPACITY:-20%}
	BASELINES=${BASELINES:-none}
fi
BASELINES=${BASELINES:-all}
CAPACITY=${CAPACITY:-${DISK:+1%}}
CAPACITY=${CAPACITY:-5%}
policies=always,second-hit,counting,chance,never
bars=
if [ -n "${DISK:-}" ]; then
	policies=always,second-hit
	if [ "$LIMIT" -eq 0 ]; then
		bars="--connections 1 --min-less 0.44 --max-off 0.005"
	fi
fi
REPORTS=${REPORTS:+$(cd "$REPORTS" && pwd)}
HTML=${HTML:+$(cd "$HTML" && pwd)}

cd "$repo"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
scripts/build.sh "$tmp/edgeproxy"
go build -o "$tmp/loadtest" ./loadtest

# replay TRACE FLAG... : one trace, a file of the folder or a model of one, with the flags of the command line last.
replay() {
	trace=$1
	shift
	case $trace in
	zipf:*)
		# shellcheck disable=SC2086 # flags, a word each
		"$tmp/loadtest" --trace "$trace" --edgeproxy "$tmp/edgeproxy" --policies "$policies" --capacity "$CAPACITY" --limit "$LIMIT" --baselines "$BASELINES" \
			--runs "${RUNS:-1}" ${REPORTS:+--json-file "$REPORTS/zipf.json"} ${HTML:+--html "$HTML/zipf.html"} "$@"
		return
		;;
	esac
	file=${trace#popularity:}
	rest=${file#"${file%%,*}"}
	file=${file%%,*}
	if [ ! -f "$TRACES/$file" ]; then
		echo "usual.sh: $TRACES has no $file" >&2
		return 1
	fi
	name=$file${rest:+-${rest##*=}} # of reports: a model is named after how its requests arrive
	held=$bars
	case $rest in
	*arrivals=even) held=$held${bars:+ --max-loss 0} ;;
	esac
	# shellcheck disable=SC2086 # flags, a word each
	"$tmp/loadtest" --trace "${trace%%"$file"*}$TRACES/$file$rest" --edgeproxy "$tmp/edgeproxy" --policies "$policies" ${DISK:+--disk "$DISK"} \
		--capacity "$CAPACITY" --limit "$LIMIT" --baselines "$BASELINES" --runs "${RUNS:-1}" $held ${REPORTS:+--json-file "$REPORTS/$name.json"} \
		${HTML:+--html "$HTML/$name.html"} "$@"
}

traces=zipf:requests=60000
[ -z "$TRACES" ] || traces="adaptsize.tr nasa-1995-08-01.tsv apache-combined-2015.log"
if [ -n "${DISK:-}" ]; then
	model=popularity:akamai-tc-popularity.txt,objects=${OBJECTS:-25000}
	traces="adaptsize.tr $model,arrivals=even $model,arrivals=bursty"
fi
status=0
for trace in $traces; do
	replay "$trace" "$@" || status=1
	echo
done
exit $status
