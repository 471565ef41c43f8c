#!/usr/bin/env bash
# Which functions does one hit, and one miss, go through? Prints them by room, and the sums.
# usage: scripts/walk.sh [hit|miss]    lists the functions of one kind too
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$out"' EXIT
go build -tags walk -cover -covermode=atomic -coverpkg=edgeproxy/... -o "$out/edgeproxy" ./cmd/edgeproxy
go build -o "$out/origin" ./scripts/tour-origin
"$out/origin" 127.0.0.1:19777 2>/dev/null &
export EDGEPROXY_WALK="$out/now" GOCOVERDIR="$out"
"$out/edgeproxy" serve --origin http://127.0.0.1:19777 --listen 127.0.0.1:19778 --admin 127.0.0.1:19779 2>"$out/log" &
edge=$!
for _ in $(seq 50); do curl -fs -H "Host: a.test" -o "$out/body" http://127.0.0.1:19778/warm && break; sleep 0.1; done
for path in warm warm warm hit hit; do curl -fs -H "Host: a.test" -o "$out/body" "http://127.0.0.1:19778/$path"; done
for kind in hit miss; do
	mkdir "$out/now"
	sleep 1.2 # what looks after things now and then has its turn
	# One connection for a request before and one that counts: how it came in does not count.
	exec 3<>/dev/tcp/127.0.0.1/19778
	printf 'GET /warm HTTP/1.1\r\nHost: a.test\r\n\r\n' >&3
	sleep 0.2
	kill -USR2 $edge
	sleep 0.1
	printf 'GET /%s HTTP/1.1\r\nHost: a.test\r\n\r\n' "$kind" >&3
	sleep 0.1
	kill -WINCH $edge
	sleep 0.5
	exec 3>&-
	mv "$out/now" "$out/$kind"
	go tool covdata textfmt -i="$out/$kind" -o "$out/$kind.cover"
	grep -v walk.go "$out/$kind.cover" >"$out/$kind.only"
	go tool cover -func="$out/$kind.only" | awk '$NF != "0.0%" && !/^total/ { sub(/^edgeproxy\//, "", $1); sub(/:[0-9]+:$/, "", $1); print $1, $2 }' |
		grep -vE '^(cmd|internal/edge)/' | sort -u >"$out/$kind.functions"
	[ "${1-}" != "$kind" ] || cat "$out/$kind.functions"
	awk -v kind="$kind" '{ room = $1; sub(/\/[^\/]*$/, "", room); functions[room]++; if (!seen[$1]++) files[room]++ }
		END { for (room in functions) { printf "%-5s %4d functions in %3d files of %s\n", kind, functions[room], files[room], room; f += functions[room]; n += files[room] }
		printf "%-5s %4d functions in %3d files of all rooms\n", kind, f, n }' "$out/$kind.functions" | sort -k2,2nr
done
