// Command sbom prints which modules a program was built from, as CycloneDX 1.5 in JSON.
//
//	go run ./scripts/sbom bin/edgeproxy
//
// It reads what the Go linker has written into the program, so it lists what is in it, not what
// go.mod might bring. The same program gives the same bytes.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		_, _ = fmt.Fprintln(os.Stderr, "usage: sbom PROGRAM")
		os.Exit(2)
	}
	if err := list(os.Stdout, os.Args[1]); err != nil {
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
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

// list writes the modules of the program at path.
func list(out io.Writer, path string) error {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return err
	}
	d := document{
		Format: "CycloneDX", Spec: "1.5", Version: 1,
		Metadata:   metadata{component{Type: "application", Name: info.Main.Path}},
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
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(d)
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
