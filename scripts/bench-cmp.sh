#!/bin/sh
# Compares the benchmarks of two revisions: builds both in git worktrees, runs
# them in turn so that a slow minute of the machine hits both, and lets
# benchstat judge. BASE=rev is required; HEAD, BENCH and COUNT have defaults.
# Only commits are compared: what is not committed is not measured.
set -eu

go=${GO:-go}
base=${BASE:-}
head=${HEAD:-HEAD}
bench=${BENCH:-.}
count=${COUNT:-10}

if [ -z "$base" ]; then
	echo "bench-cmp: say what to compare with: make bench-cmp BASE=rev" >&2
	exit 2
fi
base=$(git rev-parse --verify "$base^{commit}")
head=$(git rev-parse --verify "$head^{commit}")
if [ -n "$(git status --porcelain)" ]; then
	echo "bench-cmp: note: uncommitted changes are not measured" >&2
fi

work=$(mktemp -d)
clean() {
	for side in base head; do
		git worktree remove --force "$work/$side" 2>/dev/null || true
	done
	git worktree prune
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM

# build SIDE REV: a .bench in the folder of every package with benchmarks.
build() {
	git worktree add --quiet --detach "$work/$1" "$2"
	(
		cd "$work/$1"
		grep -rlE --include='*_test.go' '^func Benchmark' . | sed 's|/[^/]*$||' | sort -u >.packages
		while read -r dir; do
			"$go" test -c -o "$dir/.bench" "$dir"
		done <.packages
	)
}

# once SIDE: one round of every benchmark of that side.
once() {
	while read -r dir; do
		(cd "$work/$1/$dir" && ./.bench -test.run '^$' -test.bench "$bench" -test.benchmem) </dev/null
	done <"$work/$1/.packages" >>"$work/$1.txt"
}

build base "$base"
build head "$head"
if ! [ -s "$work/base/.packages" ] || ! [ -s "$work/head/.packages" ]; then
	echo "bench-cmp: one of the revisions has no benchmark" >&2
	exit 1
fi
round=1
while [ "$round" -le "$count" ]; do
	echo "bench-cmp: round $round of $count" >&2
	once base
	once head
	round=$((round + 1))
done
"$go" tool -modfile=tools/go.mod benchstat "base=$work/base.txt" "head=$work/head.txt"
