#!/bin/sh
# Replays AdaptSize's trace and Akamai's model, evenly and in bursts, with a disk behind the memory.
#
#   loadtest/disk.sh [FOLDER] [FLAG...]
#
# FOLDER holds the traces; without it, TRACES says where, relative to the
# repository. The flags go to the driver.
#   CAPACITY  the memory, default 1%
#   DISK      the disk, default 10%
#   OBJECTS   of the model, default 25000: a sixteenth
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
	echo "disk.sh: no folder $TRACES: give the folder with the traces as argument, or set TRACES" >&2
	exit 2
fi
TRACES=$(cd "$TRACES" && pwd)

cd "$repo"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
go build -o "$tmp/edgeproxy" ./cmd/edgeproxy
go build -o "$tmp/loadtest" ./loadtest

status=0
model=popularity:$TRACES/akamai-tc-popularity.txt,objects=${OBJECTS:-25000}
for trace in "$TRACES/adaptsize.tr" "$model,arrivals=even" "$model,arrivals=bursty"; do
	"$tmp/loadtest" --trace "$trace" --edgeproxy "$tmp/edgeproxy" --policies always,second-hit --baselines all \
		--capacity "${CAPACITY:-1%}" --disk "${DISK:-10%}" "$@" || status=1
	echo
done
exit $status
