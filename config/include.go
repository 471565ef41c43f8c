package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Included is a file that the configuration file includes.
type Included struct {
	File            string // its path, from where that of the configuration file is from
	Routes, Origins int    // how many it has
}

// Included lists the files that c was read from besides the configuration file, in the order in which they were read.
func (c *Config) Included() []Included { return slices.Clone(c.src.included) }

const includeKey = "include"

// The keys that an included file may have.
const (
	originsKey = "origins"
	routesKey  = "routes"
)

// includes is the value of include. It holds nothing: what is included is in routes and origins.
type includes struct{ *scalar[[]string] }

func included() includes {
	v := includes{oneOrList(new([]string), nil, "must be a file, a folder, or a list of them")}
	v.kindText = "file or folder, or list of them"
	return v
}

func (includes) get() any         { return nil }
func (includes) isDefault() bool  { return true }
func (includes) take(value)       {}
func (i includes) schema() object { return i.shape() }

// read notes what to include. Nothing is read before the end of the file, so that its own routes come first.
func (i includes) read(d *decoder) func(node) {
	return func(n node) {
		var all []string
		i.decode(d, &all)(n)
		for i, name := range all {
			at := d.src.elementPath(n.path, i)
			if name == "" && d.noErrorAt(at) {
				d.fail(at, "must be a file or a folder")
				continue
			}
			d.toInclude = append(d.toInclude, includable{at, name})
		}
	}
}

// includable is one element of include.
type includable struct{ path, name string }

// includeAll adds the routes and origins of all files that the file includes.
func (d *decoder) includeAll(c *Config) {
	if d.inputs == nil && len(d.toInclude) > 0 {
		d.fail(includeKey, "must be none here: there are no files beside this text")
		return
	}
	seen := map[string]string{realPath(d.src.file): d.src.file}
	for _, i := range d.toInclude {
		name := i.name
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(d.src.file), name)
		}
		files, err := d.filesOf(i.path, name)
		d.failToInclude(i.path, err)
		for _, file := range files {
			d.failToInclude(i.path, d.includeFile(c, file, seen))
		}
	}
}

// failToInclude adds an error, unless it is nil, for what the element of include at path stands for.
func (d *decoder) failToInclude(path string, err error) {
	if err != nil {
		d.fail(path, err.Error())
		d.incomplete = true
	}
}

// filesOf returns the files that name stands for: itself, or those of the folder of that name.
func (d *decoder) filesOf(path, name string) ([]string, error) {
	if !isFolder(name) {
		return []string{name}, nil
	}
	names, skipped, err := d.inputs.folder(name)
	if err != nil {
		return nil, fmt.Errorf("must be a folder that can be read: %w", err)
	}
	for _, s := range skipped {
		d.notice(path, filepath.Join(name, s)+" is not read: of a folder, files with names that end in "+extension+" are")
	}
	if len(names) == 0 {
		d.notice(path, "the folder has no file with a name that ends in "+extension)
	}
	files := make([]string, len(names))
	for i := range names {
		files[i] = filepath.Join(name, names[i])
	}
	return files, nil
}

// notice adds a warning of what the element of include at path stands for.
func (d *decoder) notice(path, text string) {
	p, _ := d.src.locate(path)
	d.src.notices = append(d.src.notices, Warning{File: d.src.file, Line: p.line, Column: p.column, Path: path, Value: shown(p.text), Text: text})
}

// includeFile adds the routes and origins of one file. What is wrong in it is reported at its place; the error says why it cannot be read.
// seen has the files so far, by their real paths.
func (d *decoder) includeFile(c *Config, file string, seen map[string]string) error {
	id := realPath(file)
	if first, twice := seen[id]; twice {
		return fmt.Errorf("each file must be listed once: %s is read already, as %s", file, first)
	}
	seen[id] = file
	data, err := d.inputs.file(file)
	if errors.Is(err, errNotRegular) {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err != nil {
		return fmt.Errorf("must be a file or a folder that can be read: %w", err) // it names the file
	}
	routes, origins := len(c.Routes), len(c.Origins)
	d.src.included = append(d.src.included, Included{File: file})
	d.file = file
	defer func() { d.file = "" }()
	root, problem := parseYAML(file, data)
	switch {
	case problem != nil:
		d.errs, d.incomplete = append(d.errs, problem), true
	case root != nil:
		d.includeRoot(c, node{Node: root})
	}
	last := &d.src.included[len(d.src.included)-1]
	last.Routes, last.Origins = len(c.Routes)-routes, len(c.Origins)-origins
	return nil
}

// includeRoot reads the keys of an included file.
func (d *decoder) includeRoot(c *Config, root node) {
	if _, ok := pairs(root.Node); !ok {
		d.failAt(root, "must be a section with routes and origins: other settings belong in "+d.src.file)
		return
	}
	known := c.table().names()
	d.eachKey(root, "", func(name string, n node) {
		switch {
		case name == originsKey:
			d.includeOrigins(c, n)
		case name == routesKey:
			d.includeRoutes(c, n)
		case name == includeKey:
			d.failAtKey(n.key, name, "", "must be in "+d.src.file+" only: an included file includes no others")
		case slices.Contains(known, name):
			d.failAtKey(n.key, name, "", "must be in "+d.src.file+": an included file has only routes and origins")
		default:
			d.failAtKey(n.key, n.path, "", d.unknown(n.path, name, []string{originsKey, routesKey}))
		}
	})
}

func (d *decoder) includeOrigins(c *Config, n node) {
	if _, ok := pairs(n.Node); !ok {
		d.failAt(n, wantOrigins)
		return
	}
	d.noteFirst(n)
	(&originSections{&c.Origins}).read(d)(n)
}

// includeRoutes adds routes behind those of c. Their paths count through all files.
func (d *decoder) includeRoutes(c *Config, n node) {
	s, _ := c.table().find(routesKey)
	list, ok := n.Node.(*ast.SequenceNode)
	if !ok {
		d.failAt(n, wantRoutes)
		return
	}
	d.noteFirst(n)
	s.value.(*routeList).add(d, list)
}

// noteFirst notes the place of a key that no file before has.
func (d *decoder) noteFirst(n node) {
	if !d.src.given(n.path) {
		d.notePlace(node{path: n.path, key: n.key}, place{})
	}
}

// failAt adds the error for a value of another kind than the one wanted, in an included file. It does not mark the path as bad: other files
// have values there.
func (d *decoder) failAt(n node, want string) {
	value, want := d.kind(n, want)
	at := start(n.Node)
	if at.Type == token.ImplicitNullType {
		at = n.key
	}
	d.failAtKey(at, n.path, value, want)
	d.incomplete = true
}

// realPath returns the path of a file without links, or path itself if there is none.
func realPath(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}
