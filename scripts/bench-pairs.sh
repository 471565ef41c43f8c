#!/bin/sh
# Compares the CPU time of a hit of this tree, uncommitted changes included, with that
# of another edgeproxy: BASE is a built program or a revision, which is built in a git
# worktree. PAIRS and MAX, the most that the median ratio may be, have defaults. ONLY chooses
# among the works by name.
set -eu

go=${GO:-go}
base=${BASE:-}
pairs=${PAIRS:-24}
max=${MAX:-1.03}
only=${ONLY:-}

if [ -z "$base" ]; then
	echo "bench-pairs: say what to compare with: make bench-pairs BASE=path|rev" >&2
	exit 2
fi
work=$(mktemp -d)
clean() {
	git worktree remove --force "$work/base" 2>/dev/null || true
	git worktree prune
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

if ! [ -f "$base" ] || ! [ -x "$base" ]; then
	rev=$(git rev-parse --verify --quiet "$base^{commit}") || {
		echo "bench-pairs: $base is neither a program nor a revision" >&2
		exit 2
	}
	git worktree add --quiet --detach "$work/base" "$rev"
	(cd "$work/base" && "$go" build -trimpath -o "$work/edgeproxy-base" ./cmd/edgeproxy)
	base=$work/edgeproxy-base
fi
case $base in
/*) ;;
*) base=$PWD/$base ;;
esac
"$go" run ./test/bench --base "$base" --rounds "$pairs" --round-time 1s --connections 64 --max-ratio "$max" --only "$only"
