#!/bin/sh
# Renames the module: scripts/module.sh example.com/team/edgeproxy. Where the repository has that address,
# go install example.com/team/edgeproxy/cmd/edgeproxy@VERSION works. It changes go.mod, the imports of all Go files and the linter's
# groups of imports. cmd/edgeproxy/default.pgo keeps the old names, which the compiler then does not find: make profile writes it anew.
set -eu
cd "$(dirname "$0")/.."
to=${1-}
case $to in
*[!A-Za-z0-9./_~-]* | /* | */ | *//* | *..*) to= ;;
*.*/*) ;;
*) to= ;;
esac
if [ -z "$to" ]; then
	echo "module: ${1:-nothing} must be a path that begins with a host, such as example.com/team/edgeproxy" >&2
	exit 2
fi
from=$(sed -n 's/^module //p' go.mod)
[ "$from" != "$to" ] || exit 0
quoted=$(printf '%s' "$from" | sed 's/\./\\./g')
change="s#(^|[^A-Za-z0-9./_-])$quoted/(cmd|config|internal|loadtest|scripts|test)#\\1$to/\\2#g"
sed -E "s#^module $quoted\$#module $to#" go.mod >go.mod.new
mv go.mod.new go.mod
find . -name '*.go' ! -path './.git/*' ! -path './.cache/*' -type f -exec sed -i -E "$change" {} +
sed -i -E "s#prefix\\($quoted\\)#prefix($to)#; s#module-path: $quoted\$#module-path: $to#" .golangci.yml
echo "module: $from is $to now; make profile writes the compiler's profile anew"
