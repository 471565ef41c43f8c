// Command sbom prints what a program was built from, as CycloneDX 1.5 in JSON.
//
//	go run ./scripts/sbom -version 1.2.3 -commit 6c555b1b13d0 bin/edgeproxy
//
// The modules are those that the Go linker has written into the program, so it lists what is in it, not what
// go.mod might bring. uPlot, which the dashboard has, is listed if its file is in the program. The
// linker does not record the program's own version, so it is said. The same program gives the same bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

func main() {
	version := flag.String("version", "", "version of the program")
	commit := flag.String("commit", "", "commit that it was built from")
	flag.Usage = func() {
		_, _ = fmt.Fprintln(os.Stderr, "usage: sbom [-version VERSION] [-commit COMMIT] PROGRAM")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := list(os.Stdout, flag.Arg(0), ".", *version, *commit); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// document is the part of CycloneDX that a list of modules needs.
type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	PURL    string `json:"purl,omitempty"`
	Hashes  []hash `json:"hashes,omitempty"`

	Licenses   []licence  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type licence struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// list writes what the program at path was built from. tree is the top of its source.
func list(out io.Writer, path, tree, version, commit string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	d := document{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata:   metadata{program(info.Main.Path, version, commit)},
		Components: []component{{Type: "library", Name: "std", Version: info.GoVersion, PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go")}},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c, err := module(m)
		if err != nil {
			return err
		}
		d.Components = append(d.Components, c)
	}
	c, err := uPlot(path, tree)
	if err != nil {
		return err
	}
	d.Components = append(d.Components, c)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(d)
}

// program describes the program itself.
func program(name, version, commit string) component {
	c := component{Type: "application", Name: name, Version: version}
	if version != "" {
		c.PURL = "pkg:generic/" + name + "@" + version
	}
	if commit != "" {
		c.Properties = []property{{name + ":commit", commit}}
	}
	return c
}

var uPlotVersion = regexp.MustCompile(`uPlot \(v(\d+\.\d+\.\d+)\)`)

// uPlot describes the script of that name, which is no Go module: the tree has a copy, which the compiler puts into the program.
func uPlot(path, tree string) (c component, err error) {
	script, err := os.ReadFile(filepath.Join(tree, "internal/ops/page/uplot/uPlot.iife.min.js"))
	if err != nil {
		return c, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return c, err
	}
	if !bytes.Contains(b, script) {
		return c, errors.New("the program has another uPlot than the tree: must be a program of this tree")
	}
	m := uPlotVersion.FindSubmatch(script)
	if m == nil {
		return c, errors.New("uPlot's file says no version")
	}
	sum := sha256.Sum256(script)
	version := string(m[1])
	c = component{
		Type: "library", Name: "uplot", Version: version, PURL: "pkg:npm/uplot@" + version,
		Hashes: []hash{{"SHA-256", hex.EncodeToString(sum[:])}}, Licenses: make([]licence, 1),
	}
	c.Licenses[0].License.ID = "MIT"
	return c, nil
}

// module describes m by its name, version and the hash of go.sum, which is one of SHA-256 over
// the hashes of its files.
func module(m *debug.Module) (component, error) {
	c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" + m.Version}
	if sum, ok := strings.CutPrefix(m.Sum, "h1:"); ok {
		b, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return c, fmt.Errorf("%s: hash %s: %w", m.Path, m.Sum, err)
		}
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(b)}}
	}
	return c, nil
}
