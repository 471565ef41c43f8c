#!/bin/sh
# Builds the Debian package: scripts/deb.sh OUT [amd64|arm64]. The same tree makes the same
# bytes: times are SOURCE_DATE_EPOCH, or that of the last commit. VERSION is 0.0.0 unless said. PROGRAM is packed
# where it is given, and else built. The maintainer is who builds it, DEBFULLNAME at DEBEMAIL, as Debian's own tools
# have it; the name without them has an address that reaches nobody (RFC 2606).
set -eu
cd "$(dirname "$0")/.."

GO=${GO:-go}
out=${1:?want the folder for the package}
ARCH=${2:-$($GO env GOARCH)}
VERSION=${VERSION:-0.0.0}
COMMIT=${COMMIT-$(git rev-parse --short=12 HEAD 2>/dev/null || true)}
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
MTIME=$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ)
MAINTAINER="${DEBFULLNAME:-The edgeproxy authors} <${DEBEMAIL:-maintainers@edgeproxy.invalid}>"
STAGE=$(mktemp -d)
trap 'rm -rf "$STAGE"' EXIT
trap 'exit 1' HUP INT TERM

build() {
	CGO_ENABLED=0 GOOS=linux GOARCH=$1 $GO build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" -o "$2" ./cmd/edgeproxy
}
if [ -n "${PROGRAM-}" ]; then
	cp "$PROGRAM" "$STAGE/edgeproxy"
else
	build "$ARCH" "$STAGE/edgeproxy"
fi
run=$STAGE/edgeproxy
if [ "$ARCH" != "$($GO env GOARCH)" ]; then # its pages and completions are those of any other
	run=$STAGE/here
	build "$($GO env GOARCH)" "$run"
fi
mkdir -p "$STAGE/completions" "$out"
"$run" man "$STAGE/man"
gzip -9n "$STAGE"/man/*.1
for shell in bash zsh fish; do
	"$run" completion "$shell" >"$STAGE/completions/$shell"
done
"$run" config init >"$STAGE/edgeproxy.yaml"
export ARCH VERSION MTIME MAINTAINER STAGE
sed -e "s|\${ARCH}|$ARCH|; s|\${VERSION}|$VERSION|; s|\${MTIME}|$MTIME|; s|\${MAINTAINER}|$MAINTAINER|; s|\${STAGE}|$STAGE|" packaging/deb/nfpm.yaml >"$STAGE/nfpm.yaml"
$GO build -C tools/nfpm -o "$STAGE/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm
SOURCE_DATE_EPOCH=$epoch "$STAGE/nfpm" package --config "$STAGE/nfpm.yaml" --packager deb --target "$out/"
