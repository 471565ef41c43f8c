package config

import (
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
func LoadWith(path string, flags Flags) (*Config, error) { return new(Inputs).Load(path, flags) }

// Further returns what else is wrong with c, such as files that settings name. Settings that are at fault already have defaults
// or nothing in their place, and c must not be used for anything else.
type Further func(c *Config) Errors

// Check is Load and then further, which is also called for a file with errors, so that one run reports as much as possible. Of
// what further returns, faults of settings that are at fault already are left out.
func Check(path string, further Further) (*Config, error) {
	var in Inputs
	data, err := in.main(path)
	if err != nil {
		return nil, err
	}
	c, r, problem := read(path, data, Flags{}, os.LookupEnv, &in)
	if problem != nil {
		return nil, Errors{problem}
	}
	resolve(c, &r.src)
	validate(c, r)
	c.src = r.src
	r.addUnlessReported(further(c))
	if err := r.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// Parse is Load for a file's content. name is its path in errors, and must not be
// empty. Files that it includes are read from the folder of name. Parse does not keep data.
func Parse(name string, data []byte) (*Config, error) {
	return parseWith(name, data, Flags{}, os.LookupEnv, new(Inputs))
}

// parse is parseWith for a text that may not include files.
func parse(name string, data []byte, flags Flags, lookup lookupFunc) (*Config, error) {
	return parseWith(name, data, flags, lookup, nil)
}

func parseWith(name string, data []byte, flags Flags, lookup lookupFunc, in *Inputs) (*Config, error) {
	c, r, problem := read(name, data, flags, lookup, in)
	if problem != nil {
		return nil, Errors{problem}
	}
	return finish(c, r)
}

// read returns the settings of a file, of those that it includes and of flags, and what is wrong with them so far. problem says why the
// file cannot be read at all. in reads the files that are included, and notes them; nil allows none.
func read(name string, data []byte, flags Flags, lookup lookupFunc, in *Inputs) (c *Config, r *report, problem *FieldError) {
	root, problem := parseYAML(name, data)
	if problem != nil {
		return nil, nil, problem
	}
	c, r = Default(), newReport(newSource(name))
	d := &decoder{report: r, lookup: lookup, inputs: in}
	decode(c, root, d)
	d.includeAll(c)
	checkFile(c, r)
	flags.apply(c, r)
	return c, r, nil
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
