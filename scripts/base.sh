#!/bin/sh
# Prints the commit that make ci compares with, for what runs only where something has changed; nothing where there is none.
#
# BASE names it. Unless said it is where this branch left origin/main, or, on main itself, the last commit that is four hours
# older than this one: longer ago than one piece of work takes, so rather too much runs than too little.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${BASE-}" ]; then
	git rev-parse --verify --quiet "$BASE^{commit}" || {
		echo "base.sh: BASE=$BASE is no commit" >&2
		exit 1
	}
	exit 0
fi
head=$(git rev-parse HEAD 2>/dev/null) || exit 0
fork=$(git merge-base HEAD origin/main 2>/dev/null) || fork=
if [ -n "$fork" ] && [ "$fork" != "$head" ]; then
	echo "$fork"
	exit 0
fi
git rev-list -1 --before="$(($(git log -1 --format=%ct HEAD) - 14400))" HEAD
