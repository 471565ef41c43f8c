// Command edgeproxy is a caching reverse proxy that stores a response only when
// its key was asked for before. This folder wires the rooms together: commands,
// signals, and the order of start and stop. It decides nothing about a request.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
