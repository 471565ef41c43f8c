#!/bin/sh
# Makes the files of a release: scripts/release.sh OUT. For linux on amd64 and arm64 each a
# static program as tar.gz, a Debian package and a list of its modules (CycloneDX), and
# SHA256SUMS of all. The programs are built a second time in another folder and with an empty
# build cache, and have to be the same bytes. VERSION is 0.0.0 unless said.
set -eu
cd "$(dirname "$0")/.."

GO=${GO:-go}
out=${1:?want the folder for the files}
VERSION=${VERSION:-0.0.0}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
COMMIT=${COMMIT-$(git rev-parse --short=12 HEAD 2>/dev/null || true)}
export VERSION SOURCE_DATE_EPOCH COMMIT
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$out"
out=$(cd "$out" && pwd)

# build SOURCE ARCH PROGRAM
build() {
	(cd "$1" && CGO_ENABLED=0 GOOS=linux GOARCH=$2 $GO build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT" -o "$3" ./cmd/edgeproxy)
}

mkdir "$work/elsewhere"
tar -cf - --exclude=./.git --exclude=./.cache --exclude=./bin . | tar -xf - -C "$work/elsewhere"
for arch in amd64 arm64; do
	name=edgeproxy-$VERSION-linux-$arch
	mkdir "$work/$name"
	build . $arch "$work/$name/edgeproxy"
	GOCACHE=$work/cache build "$work/elsewhere" $arch "$work/again"
	cmp "$work/$name/edgeproxy" "$work/again" || {
		echo "release: $arch: a second build differs" >&2
		exit 1
	}
	cp LICENSE README.md CHANGELOG.md docs/first-hour.md docs/capacity.md docs/security.md docs/operating.md docs/settings.md docs/recipes.md docs/moving.md "$work/$name/"
	cp -R docs/operating "$work/$name/"
	tar --sort=name --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
	$GO run ./scripts/sbom "$work/$name/edgeproxy" >"$out/$name.cdx.json"
	GO=$GO PROGRAM="$work/$name/edgeproxy" scripts/deb.sh "$out" "$arch"
done
cd "$out"
sha256sum "edgeproxy-$VERSION-"* "edgeproxy_$VERSION"*.deb >SHA256SUMS
echo "release: $out"
