#!/bin/sh
# Lays out what is delivered with a program: scripts/contents.sh FOLDER PROGRAM [RUNS]. FOLDER gets the program as
# bin/edgeproxy, its manual pages and completions, the documents, and from packaging/ the units, the rules and the
# dashboard for monitoring, and the chart. RUNS is a program of the same tree that this machine can run, where PROGRAM is for
# another one. The archive and the packages are made of this folder.
set -eu
to=${1:?must be the folder}
program=${2:?must be the program}
runs=${3:-$program}
mkdir -p "$to/bin" "$to/config" "$to/completions" "$to/packaging"
to=$(cd "$to" && pwd)
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
runs=$(cd "$(dirname "$runs")" && pwd)/$(basename "$runs")
cd "$(dirname "$0")/.."

cp "$program" "$to/bin/edgeproxy"
cp LICENSE README.md CHANGELOG.md SECURITY.md "$to/"
cp -R docs "$to/"
cp config/edgeproxy.yaml "$to/config/"
"$runs" config init >"$to/config/starter.yaml"
for part in systemd prometheus grafana helm; do
	cp -R "packaging/$part" "$to/packaging/"
done
"$runs" man "$to/man"
gzip -9n "$to"/man/*.[15]
"$runs" completion bash >"$to/completions/edgeproxy"
"$runs" completion zsh >"$to/completions/_edgeproxy"
"$runs" completion fish >"$to/completions/edgeproxy.fish"
${GO:-go} run ./scripts/shipdocs "$to"
# As it is for everybody, whatever the umask is.
chmod -R u+rwX,go=rX "$to"
chmod 755 "$to/bin/edgeproxy"
