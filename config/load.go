package config

import (
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml/ast"
)

// Load reads the configuration file at path. The error is an Errors with every
// problem, or says why the file could not be read. Variables come from the environment.
func Load(path string) (*Config, error) {
	return LoadWith(path, Flags{})
}

// LoadWith is Load with flags, which override the file. Both are checked together: a file
// without origins is complete with Flags.Origin.
func LoadWith(path string, flags Flags) (*Config, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return parse(path, data, flags, os.LookupEnv)
}

// readFile reads at most one byte more than a file may have: the wrong file, or a device,
// may be of any size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err // it names the path
	}
	defer func() { _ = f.Close() }() // nothing was written
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}

// Parse is Load for a file's content. name is its path in errors, and must not be
// empty. Parse does not keep data.
func Parse(name string, data []byte) (*Config, error) {
	return parse(name, data, Flags{}, os.LookupEnv)
}

func parse(name string, data []byte, flags Flags, lookup lookupFunc) (*Config, error) {
	root, problem := parseYAML(name, data)
	if problem != nil {
		return nil, Errors{problem}
	}
	c := Default()
	r := newReport(newSource(name))
	decode(c, root, &decoder{report: r, lookup: lookup})
	checkFile(c, r)
	flags.apply(c, r)
	return finish(c, r)
}

// decode fills c from the document; nil is an empty one.
func decode(c *Config, root ast.Node, d *decoder) {
	if root != nil {
		d.section(c.table())(node{Node: root})
	}
}

// finish resolves settings that depend on others, checks everything and returns c.
func finish(c *Config, r *report) (*Config, error) {
	resolve(c, &r.src)
	validate(c, r)
	if err := r.err(); err != nil {
		return nil, err
	}
	c.src = r.src
	return c, nil
}
