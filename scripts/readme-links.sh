#!/bin/sh
# Fails if a document links to a file that is not there, or if the README is longer than a front page. Links to other
# sites are left alone: a check must not depend on them.
set -eu

broken=0
for doc in README.md CHANGELOG.md SECURITY.md docs/*.md docs/operating/*.md docs/decisions/*.md loadtest/README.md; do
	for target in $(grep -oE '\]\([^)#]+|(src|srcset)="[^"]+' "$doc" | sed -E 's/^(]\(|(src|srcset)=")//'); do
		case $target in
		http://* | https://*) ;;
		*)
			if ! [ -e "$(dirname "$doc")/$target" ]; then
				echo "readme: $doc links to $target, which is not there" >&2
				broken=1
			fi
			;;
		esac
	done
done
most=1200
words=$(wc -w <README.md)
if [ "$words" -gt "$most" ]; then
	echo "readme: README.md has $words words, must be at most $most: what is long belongs into docs/" >&2
	broken=1
fi
exit $broken
