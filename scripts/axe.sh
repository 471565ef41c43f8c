#!/bin/sh
# Has axe-core look at the dashboard in Chromium. The release comes from the package registry, once, into .cache, and
# is held to the checksum below, so nobody else's code runs.
set -eu

version=4.14.1
integrity=sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
dir=$PWD/.cache/axe-core-$version

command -v npm >/dev/null || { echo "axe: npm is not there" >&2; exit 1; }
if ! [ -d "$dir" ]; then
	mkdir -p .cache
	part=$(mktemp -d "$dir.XXXXXX")
	trap 'rm -rf "$part"' EXIT
	echo '{"private": true}' >"$part/package.json"
	npm install --prefix "$part" --ignore-scripts --omit=dev --no-audit --no-fund --fetch-retries=2 --fetch-retry-mintimeout=1000 \
		--fetch-retry-maxtimeout=5000 "axe-core@$version" >"$part/log" 2>&1 || { cat "$part/log" >&2; exit 1; }
	grep -qF "\"integrity\": \"$integrity\"" "$part/node_modules/.package-lock.json" || { echo "axe: the checksum is not that of axe-core $version" >&2; exit 1; }
	mv "$part" "$dir"
	trap - EXIT
fi
GOTEST_STEP=axe
export GOTEST_STEP
exec "${GOTEST:-.cache/bin/gotest}" -- -count=1 "-run=^TestInChromium\$/^everybody_can_use_it\$" ./internal/ops/dashboard -axe "$dir/node_modules/axe-core/axe.min.js"
