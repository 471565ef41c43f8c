// Command edgeproxy has the commands of a caching reverse proxy, which stores a response
// only if its key was requested before.
//
// It answers one question: what may an operator type, and what is printed?
//
// The law it keeps: a mistake in what is typed is exit code 2 with what is wanted, a failure is exit code 1, and a result that
// could not be printed is a failure. Each command has a file; commands.go lists them.
//
// What it does not do: it composes no proxy itself. The commands serve and demo hand a configuration to internal/edge. Commands about
// a running proxy ask its admin listener, and decode the documents of internal/edge. The others (simulate, size, log, cache of a
// stopped proxy) work on files.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
