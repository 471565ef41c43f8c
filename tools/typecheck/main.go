// Command typecheck says whether the packages of a module hold together on other systems: typecheck FOLDER GOOS/GOARCH PATTERN...
//
// It reads all sources, those of imports and of the standard library as well, and checks their types, as the compiler does before it
// compiles. So it needs no compiled packages, which go vet does, and takes seconds for the whole module.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 4 {
		fmt.Fprintln(os.Stderr, "typecheck: must be called as typecheck FOLDER GOOS/GOARCH PATTERN...")
		os.Exit(2)
	}
	problems, err := check(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, p := range problems {
		fmt.Fprintf(os.Stderr, "typecheck: %s: %s\n", os.Args[2], p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// check returns what is wrong with the packages of the patterns, tests left out, on one system.
func check(folder, target string, patterns []string) (problems []string, err error) {
	system, processor, ok := strings.Cut(target, "/")
	if !ok {
		return nil, fmt.Errorf("%q must be GOOS/GOARCH", target)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedModule,
		Dir: folder,
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOFLAGS=-pgo=off"),
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("no package of %v below %s", patterns, folder)
	}
	for _, p := range loaded {
		for _, e := range p.Errors {
			problems = append(problems, e.Error())
		}
	}
	return problems, nil
}
