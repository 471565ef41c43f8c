#!/usr/bin/env bash
# Which functions does one hit go through, and one miss that is held back? Prints them by room and file, in the order in which a request
# comes to the rooms, and the sums. A file of the engine has the name of its step.
# usage: scripts/walk.sh [hit|miss]    one of the two; --sums prints the sums alone
set -euo pipefail
cd "$(dirname "$0")/.."
GO=${GO:-go}
kinds="hit miss" only=
for word in "$@"; do
	case $word in
	hit | miss) kinds=$word ;;
	--sums) only=sums ;;
	*)
		echo "usage: scripts/walk.sh [hit|miss] [--sums]" >&2
		exit 2
		;;
	esac
done
out=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null || true; wait; rm -rf "$out"' EXIT
$GO build -tags walk -cover -covermode=atomic -coverpkg=edgeproxy/... -o "$out/edgeproxy" ./cmd/edgeproxy
$GO build -o "$out/origin" ./scripts/tour-origin
"$out/origin" 127.0.0.1:19777 2>/dev/null &
export EDGEPROXY_WALK="$out/now" GOCOVERDIR="$out"
"$out/edgeproxy" serve --origin http://127.0.0.1:19777 --listen 127.0.0.1:19778 --admin 127.0.0.1:19779 2>"$out/log" &
edge=$!
for _ in $(seq 300); do curl -fs -H "Host: a.test" -o "$out/body" http://127.0.0.1:19778/warm && break; sleep 0.1; done
for path in warm warm warm hit hit; do curl -fs -H "Host: a.test" -o "$out/body" "http://127.0.0.1:19778/$path"; done
for kind in $kinds; do
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
	$GO tool covdata textfmt -i="$out/$kind" -o "$out/$kind.cover"
	grep -v walk.go "$out/$kind.cover" >"$out/$kind.only"
	$GO tool cover -func="$out/$kind.only" | awk '$NF != "0.0%" && !/^total/ { sub(/^edgeproxy\//, "", $1); sub(/:[0-9]+:$/, "", $1); print $1, $2 }' |
		grep -vE '^(cmd|internal/edge)/' >"$out/$kind.functions"
	awk -v kind="$kind" -v only="$only" '
		function place(room) { return room in rank ? rank[room] : 99 }
		function walk(room,   i, line, file) {
			printf "\n%s: %d functions in %d files\n", room, functions[room], files[room]
			for (i = 1; i <= fileCount; i++) {
				file = inOrder[i]
				if (roomOf[file] != room) continue
				line = file; sub(/.*\//, "", line); sub(/\.go$/, "", line)
				printf "  %-16s%s\n", line, names[file]
			}
		}
		BEGIN {
			n = split("internal/front/http1 internal/front/listen internal/http/message internal/http/wire internal/http/field internal/proxy internal/route/routing internal/route/cachekey internal/http/rfc9111 internal/cache internal/cache/purge internal/admission internal/admission/policy internal/bloom internal/bloom/sliding internal/proxy/internal/flight internal/origin internal/origin/balance", order, " ")
			for (i = 1; i <= n; i++) rank[order[i]] = i
			steps = split("proxy receive headers decide access route key lookup purged sighting collapse whole fill fillhere fetch judge admit store fetched pass deliver selection sendstored record", step, " ")
			for (i = 1; i <= steps; i++) stepRank["internal/proxy/" step[i] ".go"] = i
		}
		{
			room = $1; sub(/\/[^\/]*$/, "", room)
			if (!($1 in names)) { all[++fileCount] = $1; roomOf[$1] = room; files[room]++; if (!(room in functions)) rooms[++roomCount] = room }
			if (index(" " names[$1] " ", " " $2 " ") == 0) { names[$1] = names[$1] (names[$1] == "" ? "" : " ") $2; functions[room]++; f++ }
		}
		END {
			printf "%s: %d functions in %d files; %d in %d of internal/proxy\n", kind, f, fileCount, functions["internal/proxy"], files["internal/proxy"]
			if (only == "sums") exit
			for (i = 1; i <= fileCount; i++) if (all[i] in stepRank) byStep[stepRank[all[i]]] = all[i]
			for (i = 1; i <= steps; i++) if (i in byStep) inOrder[++k] = byStep[i]
			for (i = 1; i <= fileCount; i++) if (!(all[i] in stepRank)) inOrder[++k] = all[i]
			for (r = 1; r <= 99; r++) for (i = 1; i <= roomCount; i++) if (place(rooms[i]) == r) walk(rooms[i])
			print ""
		}' "$out/$kind.functions"
done
