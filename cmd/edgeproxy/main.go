// Command edgeproxy is a caching reverse proxy. By default it stores a response
// only if its key was requested before. This folder wires the rooms (packages)
// together: commands, signals, and the order of start and stop. It decides
// nothing about a request.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
}
