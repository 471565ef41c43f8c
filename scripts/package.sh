#!/bin/sh
# Builds a package for Debian or for systems with RPM: scripts/package.sh deb|rpm OUT [amd64|arm64]. The same tree makes the same
# bytes: times are SOURCE_DATE_EPOCH, or that of the last commit. VERSION is 0.0.0 unless said. PROGRAM is packed
# where it is given, and else built. CONTENTS is a folder that scripts/contents.sh has filled, instead of both. The
# maintainer is who builds it, DEBFULLNAME at DEBEMAIL, as Debian's own tools
# have it; the name without them has an address that reaches nobody (RFC 2606).
set -eu
cd "$(dirname "$0")/.."

GO=${GO:-go}
format=${1:?must be deb or rpm}
out=${2:?must be the folder for the package}
here=$($GO env GOHOSTARCH)
ARCH=${3:-$here}
VERSION=${VERSION:-0.0.0}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
MTIME=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
MAINTAINER="${DEBFULLNAME:-The edgeproxy authors} <${DEBEMAIL:-maintainers@edgeproxy.invalid}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
export GO VERSION GOOS=linux

if [ -z "${CONTENTS-}" ]; then
	CONTENTS=$work/contents
	[ -n "${PROGRAM-}" ] || scripts/build.sh "${PROGRAM:=$work/edgeproxy}" "$ARCH"
	runs=$PROGRAM
	if [ "$ARCH" != "$here" ]; then # its pages and completions are those of any other
		runs=$work/here
		scripts/build.sh "$runs" "$here"
	fi
	scripts/contents.sh "$CONTENTS" "$PROGRAM" "$runs"
fi
unset GOOS
mkdir -p "$out"
sed -e "s|\${ARCH}|$ARCH|; s|\${VERSION}|$VERSION|; s|\${MTIME}|$MTIME|; s|\${MAINTAINER}|$MAINTAINER|; s|\${CONTENTS}|$CONTENTS|" packaging/nfpm.yaml >"$work/nfpm.yaml"
$GO build -C tools/nfpm -o "$work/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm
SOURCE_DATE_EPOCH=$epoch "$work/nfpm" package --config "$work/nfpm.yaml" --packager "$format" --target "$out/"
