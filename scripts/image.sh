#!/bin/sh
# Lays out the folder that docker build makes the image of: scripts/image.sh FOLDER [ARCH]. It gets the static program, the
# demo's origin, the certificates of authorities of this machine, or those in CA_CERTIFICATES, and the Dockerfile.
# The version is VERSION, as for scripts/build.sh. PROGRAM is copied where it is given, and then the folder has no demo's origin.
set -eu
to=${1:?must be the folder}
mkdir -p "$to/empty"
to=$(cd "$to" && pwd)
cd "$(dirname "$0")/.."

GO=${GO:-go}
ARCH=${2:-$($GO env GOARCH)}
for file in ${CA_CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem}; do
	if [ -e "$file" ]; then
		cp "$file" "$to/ca-certificates.crt"
		break
	fi
done
[ -s "$to/ca-certificates.crt" ] || {
	echo "image: no certificates of authorities here: set CA_CERTIFICATES to a file with them" >&2
	exit 1
}
export GO GOOS=linux
if [ -n "${PROGRAM-}" ]; then
	cp "$PROGRAM" "$to/edgeproxy"
else
	scripts/build.sh "$to/edgeproxy" "$ARCH"
	PACKAGE=./scripts/tour-origin scripts/build.sh "$to/tour-origin" "$ARCH"
fi
cp packaging/docker/Dockerfile packaging/docker/edgeproxy.yaml "$to/"
chmod 644 "$to/ca-certificates.crt" "$to/edgeproxy.yaml"
