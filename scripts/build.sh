#!/bin/sh
# Builds the program as it is delivered, static: scripts/build.sh FILE [ARCH]. This is the one place that has the flags:
# make build, the packages, the release and the image use it. VERSION and COMMIT go into the program; without VERSION it
# is a devel. COMMIT is that of the tree unless said. PACKAGE is another program of the tree, which has no version.
set -eu
file=${1:?must be the file to write}
case $file in
/*) ;;
*) file=$PWD/$file ;;
esac
cd "$(dirname "$0")/.."

GO=${GO:-go}
COMMIT=${COMMIT-$(git rev-parse --short=12 HEAD 2>/dev/null || true)}
[ -z "${2-}" ] || export GOARCH="$2"
export CGO_ENABLED=0
mkdir -p "$(dirname "$file")"
exec $GO build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION-} -X main.commit=$COMMIT" -o "$file" "${PACKAGE:-./cmd/edgeproxy}"
