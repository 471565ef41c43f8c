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
$GO build -pgo=off -tags walk -cover -covermode=atomic -coverpkg=edgeproxy/... -o "$out/edgeproxy" ./cmd/edgeproxy
$GO build -o "$out/origin" ./scripts/tour-origin
port=$((20000 + RANDOM % 10000))
"$out/origin" 127.0.0.1:$port 2>/dev/null &
export EDGEPROXY_WALK="$out/now" GOCOVERDIR="$out"
"$out/edgeproxy" serve --origin http://127.0.0.1:$port --listen 127.0.0.1:$((port + 1)) --admin 127.0.0.1:$((port + 2)) 2>"$out/log" &
edge=$!
get() { curl -fs -H "Host: a.test" -o "$out/body" "http://127.0.0.1:$((port + 1))/$1"; }
for _ in $(seq 100); do get warm && break; sleep 0.1; done
for path in warm warm hit hit; do get $path; done

# tell SIGNAL sends a signal to the edge, and waits until it has done what that means.
tell() {
	local before
	before=$(grep -c '^walk: done' "$out/log" || true)
	kill "-$1" $edge
	for _ in $(seq 300); do [ "$(grep -c '^walk: done' "$out/log" || true)" != "$before" ] && return; sleep 0.05; done
	echo "walk: the edge does not answer" >&2
	exit 1
}

# ask PATH sends a request on the connection 3, and reads the answer.
ask() {
	local line length=0
	printf 'GET /%s HTTP/1.1\r\nHost: a.test\r\n\r\n' "$1" >&3
	while read -r -t 30 line <&3; do
		line=${line%$'\r'}
		if [[ $line =~ ^Content-Length:\ ([0-9]+)$ ]]; then length=${BASH_REMATCH[1]}; fi
		[ -n "$line" ] || break
	done
	head -c "$length" <&3 >"$out/body"
}

# note NAME writes into the folder NAME what has run so far.
note() {
	mkdir "$out/now"
	tell WINCH
	mv "$out/now" "$1"
}

# blocks NAME prints which blocks of code have run by the folder NAME, and writes NAME.cover.
blocks() {
	$GO tool covdata textfmt -i="$1" -o "$1.cover"
	sed -i '/walk.go/d' "$1.cover"
	grep -v ' 0$' "$1.cover" | cut -d' ' -f1 | sort
}

# walk PATH NAME writes into NAME.functions which functions run for one request. It is the second one of its connection:
# how a connection comes in does not count. The request is over when nothing more runs.
walk() {
	exec 3<>"/dev/tcp/127.0.0.1/$((port + 1))"
	ask warm
	sleep 0.2
	tell USR2
	ask "$1"
	note "$2.first"
	note "$2"
	exec 3>&-
	[ "$(blocks "$2.first")" = "$(blocks "$2")" ] || return 1
	$GO tool cover -func="$2.cover" | awk '$NF != "0.0%" && !/^total/ { sub(/^edgeproxy\//, "", $1); print $1, $2 }' |
		grep -vE '^(cmd|internal/edge)/' >"$2.functions"
}

for kind in $kinds; do
	# What looks after things now and then does not run in each of three rounds.
	rounds=0
	for try in $(seq 30); do
		if [ $kind = hit ]; then path=hit; else path=miss$try; fi
		if walk $path "$out/$kind$try"; then rounds=$((rounds + 1)); fi
		[ $rounds -lt 3 ] || break
	done
	[ $rounds = 3 ] || { echo "walk: no three rounds of a $kind ended by themselves" >&2; exit 1; }
	# Functions stand in the order of their file.
	sort "$out/$kind"*.functions | uniq -c | awk '$1 == 3 { split($2, at, ":"); print at[1], at[2], $3 }' | sort -k1,1 -k2,2n | cut -d' ' -f1,3 >"$out/$kind.all"
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
		}' "$out/$kind.all"
done
