#!/bin/sh
# Makes the files of a release: scripts/release.sh OUT [ARCH...]. For linux on amd64 and arm64, unless said, each a
# tar.gz with the static program and what belongs to it, a Debian and an RPM package, an image for docker load, and a list of what it was built
# from (CycloneDX), and SHA256SUMS of all. All is made a second time from a copy of the tree in another folder and with an empty
# build cache, and has to be the same bytes; ONCE=1 leaves the second time out. VERSION is the newest in CHANGELOG.md unless said.
set -eu
cd "$(dirname "$0")/.."

GO=${GO:-go}
out=${1:?must be the folder for the files}
shift
[ $# -gt 0 ] || set -- amd64 arm64
VERSION=${VERSION:-$(sed -n 's/^## \([0-9][0-9.]*\)$/\1/p' CHANGELOG.md | head -n 1)}
[ -n "$VERSION" ] || {
	echo "release: CHANGELOG.md has no heading ## 1.2.3: give VERSION" >&2
	exit 1
}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
COMMIT=${COMMIT-$(git rev-parse --short=12 HEAD 2>/dev/null || true)}
here=$($GO env GOHOSTARCH)
export GO VERSION SOURCE_DATE_EPOCH COMMIT
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# files TREE FOLDER CACHE ARCH...: makes the files from TREE; the compiler's cache for the program is CACHE.
files() {
	tree=$1 to=$2 cache=$3
	shift 3
	mkdir -p "$to.work" "$to"
	(cd "$tree" && $GO build -C tools/image -o "$to.work/image" .)
	for arch in "$@" "$here"; do # the last one writes manual pages and completions of all
		[ -e "$to.work/$arch" ] || (cd "$tree" && GOCACHE=$cache GOOS=linux scripts/build.sh "$to.work/$arch" "$arch")
	done
	for arch in "$@"; do
		name=edgeproxy-$VERSION-linux-$arch
		contents=$to.work/$name
		(cd "$tree" && scripts/contents.sh "$contents" "$to.work/$arch" "$to.work/$here")
		tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --mtime="@$SOURCE_DATE_EPOCH" -C "$to.work" -cf - "$name" | gzip -9n >"$to/$name.tar.gz"
		(cd "$tree" && $GO run ./scripts/sbom -version "$VERSION" -commit "$COMMIT" "$contents/bin/edgeproxy") >"$to/$name.cdx.json"
		(cd "$tree" && CONTENTS=$contents scripts/package.sh deb "$to" "$arch" && CONTENTS=$contents scripts/package.sh rpm "$to" "$arch")
		(cd "$tree" && PROGRAM=$contents/bin/edgeproxy scripts/image.sh "$to.work/image-$arch" "$arch" &&
			"$to.work/image" -target edgeproxy -tag "edgeproxy:$VERSION" -arch "$arch" -epoch "$SOURCE_DATE_EPOCH" "$to.work/image-$arch" "$to/$name-image.tar.gz")
	done
	(cd "$to" && sha256sum edgeproxy-* edgeproxy_*.deb >SHA256SUMS)
}

files . "$work/first" "$($GO env GOCACHE)" "$@"
if [ -z "${ONCE:-}" ]; then
	mkdir "$work/elsewhere"
	tar -cf - --exclude=./.git --exclude=./.cache --exclude=./bin . | tar -xf - -C "$work/elsewhere"
	files "$work/elsewhere" "$work/second" "$work/cache" "$@"
	cmp "$work/first/SHA256SUMS" "$work/second/SHA256SUMS" || {
		diff "$work/first/SHA256SUMS" "$work/second/SHA256SUMS" >&2 || :
		echo "release: a second build differs" >&2
		exit 1
	}
fi
mkdir -p "$out"
cp "$work"/first/* "$out/"
echo "release: $out"
