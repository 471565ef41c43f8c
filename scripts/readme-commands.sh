#!/bin/sh
# Runs the commands of a document and compares what they print: without an argument
# those of the README below its first heading, else all of the document FILE. What stands above, the demo and make test,
# has checks of its own.
#
# Every block marked sh is
# run, in order, in one shell that ends with the first command that fails. Where a block
# marked text follows at once, its lines must be printed in their order; other
# lines may come between them, and … stands for anything. Ports and bin/ are
# replaced, so that a proxy that runs already is not disturbed.
set -eu

GO=${GO:-go}
no_proxy=127.0.0.1
# Compiled as the program is delivered, which make ci has done already.
GOFLAGS="$($GO env GOFLAGS) -trimpath"
export GO GOFLAGS no_proxy
readme=${1:-README.md}
whole=$#
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# free PORT: nothing answers there (curl's exit code 7).
free() {
	code=0
	curl -s -o /dev/null --max-time 1 "http://127.0.0.1:$1/" || code=$?
	[ "$code" -eq 7 ]
}

# Below the ports that systems hand out by themselves.
data=$((20000 + $$ % 10000))
until free "$data" && free $((data + 1)) && free $((data + 2)); do
	data=$((data + 3))
	if [ "$data" -gt 32000 ]; then
		echo "readme: no free ports" >&2
		exit 1
	fi
done
admin=$((data + 1))
origin=$((data + 2))

sed -e "s/127\.0\.0\.1:8080/127.0.0.1:$data/g" \
	-e "s/127\.0\.0\.1:9980/127.0.0.1:$admin/g" \
	-e "s/127\.0\.0\.1:9000/127.0.0.1:$origin/g" \
	-e "s/edgeproxy serve/& --listen 127.0.0.1:$data --admin 127.0.0.1:$admin/g" \
	-e "s|^make build\$|scripts/build.sh bin/edgeproxy|" \
	-e "s|bin/|$work/|g" "$readme" >"$work/document.md"

# Block n goes to n.sh, what it has to print to n.want.
awk -v out="$work" -v whole="$whole" '
	/^## / { below = 1; next }
	!whole && !below { next }
	/^```sh$/ { file = out "/" ++n ".sh"; next }
	/^```text$/ { file = n && after == NR - 1 ? out "/" n ".want" : ""; next }
	/^```/ { file = ""; after = NR; next }
	file { print >file }
	END { print n + 0 >(out "/count") }' "$work/document.md"
count=$(cat "$work/count")
if [ "$count" -eq 0 ]; then
	echo "readme: $readme has no commands" >&2
	exit 1
fi

{
	echo 'set -eu'
	echo "trap 'kill \${edge:-} \${origin:-} 2>/dev/null || true' EXIT"
	echo "trap 'exit 1' HUP INT TERM"
	echo 'go() { command $GO "$@"; }'
	n=1
	while [ "$n" -le "$count" ]; do
		printf 'echo\necho "@@ %s"\n' "$n"
		cat "$work/$n.sh"
		n=$((n + 1))
	done
} >"$work/all.sh"

# The commands take some seconds; the limit is for a command that hangs.
limit=
command -v timeout >/dev/null && limit='timeout 300'
code=0
$limit sh "$work/all.sh" >"$work/printed" 2>&1 || code=$?
tr -d '\r' <"$work/printed" | awk -v out="$work" '
	/^@@ / { file = out "/" $2 ".got"; printf "" >file; next }
	file { print >file }'
if [ "$code" -ne 0 ]; then
	echo "readme: the commands of $readme ended with code $code; they printed:" >&2
	cat "$work/printed" >&2
	exit 1
fi

# missing WANT GOT: the first line of WANT that GOT does not have in its turn.
missing() {
	awk '
		NR == FNR { gsub(/[][\\.*+?(){}|^$]/, "\\\\&"); gsub(/…/, ".*"); want[++n] = "^" $0 "$"; plain[n] = $0; next }
		at < n && $0 ~ want[at + 1] { at++ }
		END { if (at < n) print plain[at + 1] }' "$1" "$2"
}

failed=0
n=1
while [ "$n" -le "$count" ]; do
	if [ -f "$work/$n.want" ]; then
		line=$(missing "$work/$n.want" "$work/$n.got")
		if [ -n "$line" ]; then
			failed=1
			echo "readme: block $n of $readme does not print, in its turn: $line" >&2
			echo "readme: it prints:" >&2
			cat "$work/$n.got" >&2
		fi
	fi
	n=$((n + 1))
done
[ "$failed" -eq 0 ]
echo "readme: $readme prints what it says, in all of its blocks: $count"
