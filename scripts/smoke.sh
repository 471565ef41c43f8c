#!/bin/sh
# Starts the built program before an origin, asks three times with curl, and holds
# the answers against what second-hit promises. Then it stops both.
set -eu
cd "$(dirname "$0")/.."

no_proxy=127.0.0.1
export no_proxy
dir=$(mktemp -d)
edge=
app=
stop() {
	[ -z "$edge" ] || kill "$edge" 2>/dev/null || :
	[ -z "$app" ] || kill "$app" 2>/dev/null || :
	wait
	rm -rf "$dir"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

fail() {
	echo "smoke: $*" >&2
	cat "$dir"/*.log >&2
	exit 1
}

# until_ok WHAT COMMAND...: tries for ten seconds.
until_ok() {
	what=$1
	shift
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || fail "$what"
		sleep 0.1
	done
}

# taken PORT: somebody answers there.
taken() {
	code=0
	curl -s -o /dev/null --max-time 1 "http://127.0.0.1:$1/" || code=$?
	[ "$code" -ne 7 ]
}

command -v curl >/dev/null || {
	echo "smoke: curl is not there" >&2
	exit 1
}
scripts/build.sh "$dir/edgeproxy"
PACKAGE=./scripts/tour-origin scripts/build.sh "$dir/origin"

# The origin's port lies below those that systems hand out by themselves.
port=$((20000 + $$ % 10000))
while taken "$port"; do
	port=$((port + 1))
done
"$dir/origin" "127.0.0.1:$port" 2>"$dir/origin.log" &
app=$!
until_ok "the origin does not answer" curl -sf "http://127.0.0.1:$port/"

"$dir/edgeproxy" serve --origin "http://127.0.0.1:$port" --listen 127.0.0.1:0 --admin 127.0.0.1:0 2>"$dir/edge.log" &
edge=$!
until_ok "the proxy does not serve" grep -q '"msg":"serving"' "$dir/edge.log"
address=$(sed -n 's/.*"addresses":\["\([^"]*\)".*/\1/p' "$dir/edge.log")
admin=$(sed -n 's/.*"admin":"\([^"]*\)".*/\1/p' "$dir/edge.log")

# ask PATTERN [AGED]: the next answer has this Cache-Status, and Age only if AGED.
ask() {
	curl -sS --max-time 10 -D "$dir/head" -o "$dir/body" "http://$address/smoke" || fail "no answer"
	tr -d '\r' <"$dir/head" >"$dir/fields"
	grep -q '^HTTP/1.1 200 ' "$dir/fields" || fail "not 200: $(head -n 1 "$dir/fields")"
	grep -Eq "^Cache-Status: edgeproxy; $1\$" "$dir/fields" ||
		fail "got $(grep '^Cache-Status' "$dir/fields" || echo 'no Cache-Status'), must be $1"
	aged=
	! grep -q '^Age: ' "$dir/fields" || aged=yes
	[ "$aged" = "${2-}" ] || fail "Age on what is not from the cache, or none on what is"
	grep -q "the origin's answer to /smoke" "$dir/body" || fail "another body: $(cat "$dir/body")"
}

ask 'fwd=uri-miss; detail=first-sighting'
ask 'hit; ttl=[0-9]+' yes
ask 'hit; ttl=[0-9]+' yes
curl -sSf --max-time 10 "http://$admin/readyz" >/dev/null || fail "/readyz is not 200"
curl -sSf --max-time 10 -o "$dir/metrics" "http://$admin/metrics" || fail "no metrics"
grep -q '^edgeproxy_cache_writes_total{tier="memory"} 1$' "$dir/metrics" || fail "not one cache write"

kill -TERM "$edge"
code=0
wait "$edge" || code=$?
edge=
[ "$code" -eq 0 ] || fail "exit code $code after SIGTERM, must be 0"
echo "smoke: first-sighting, hit, hit; stopped in order"
