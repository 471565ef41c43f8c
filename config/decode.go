package config

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Parts of error texts.
const (
	notYet    = "not supported yet"
	wantPlain = "must be a plain value, without anchor, alias or tag; quote one that begins with *, & or !"
)

// decoder decodes nodes into values. A value holds its default before, and keeps it
// if the node has a problem.
type decoder struct {
	*report
	lookup     lookupFunc
	noDefaults bool   // values get no defaults before: for tests
	secretPath string // the path of a value that no error may show

	inputs    *Inputs      // reads the files that are included; nil allows none
	toInclude []includable // what the file includes
	topRoutes int          // routes so far, without those within others
	file      string       // the included file that is being decoded; "" is the file itself
}

// isSecret reports whether no error may show the value of n.
func (d *decoder) isSecret(n node) bool { return d.secretPath != "" && n.path == d.secretPath }

// node is a value in the file, with its path and its key.
type node struct {
	ast.Node
	path string
	key  *token.Token // nil in a list

	expanded *string // the text of an element of a list that one variable holds; nil is that of the node
}

// section returns the function that reads a section by its table. An empty value is an empty section.
func (d *decoder) section(t table) func(node) {
	return func(n node) {
		if _, ok := pairs(n.Node); !ok {
			d.failKind(n, t.wantSection())
			return
		}
		split := unquotedColon(n.Node)
		d.each(n, "", func(name string, n node) {
			s, ok := t.find(name)
			if !ok && split {
				d.failWithValue(n.path, "", "unknown key: "+wantQuotes)
				return
			}
			if !ok {
				d.failWithValue(n.path, "", d.unknown(n.path, name, t.names()))
				return
			}
			s.value.read(d)(n)
		})
	}
}

// wantSection is the error for a value that is no section.
func (t table) wantSection() string {
	known := t.names()
	if len(known) > maxNamedKeys {
		return "must be a section of keys"
	}
	return "must be a section with " + oneOf(slices.DeleteFunc(known, t.isMisplaced))
}

// names returns the names of the settings that are supported, sorted.
func (t table) names() []string {
	var out []string
	for _, s := range t {
		if _, later := s.value.(unsupported); !later {
			out = append(out, s.name)
		}
	}
	slices.Sort(out)
	return out
}

// maxNamedKeys is the largest number of keys of a section that errors list.
const maxNamedKeys = 4

// unknown returns the error for a key at path that is not in a section's table.
func (d *decoder) unknown(path, name string, known []string) string {
	if now := renamedTo(path, name); now != "" {
		return "unknown key: it is called " + now + " now"
	}
	near := closest(name, known)
	if other := foreignName(path, name); other != "" && (near == "" || distance(name, near) > 1) {
		return "unknown key, " + other
	}
	if near != "" {
		return "unknown key, did you mean " + near + "?"
	}
	if home := sectionHint(name); home != "" {
		return "unknown key here: it belongs " + home
	}
	if len(known) <= maxNamedKeys {
		return "unknown key, use " + oneOf(known)
	}
	return "unknown key"
}

// each calls read for each key of a section, in order, and notes where it is. want is the
// error for a value that is no section.
func (d *decoder) each(n node, want string, read func(name string, n node)) {
	d.eachKey(n, want, func(name string, v node) {
		d.notePlace(node{path: v.path, key: v.key}, place{})
		read(name, v)
	})
}

// eachKey is each, but does not note where keys are.
func (d *decoder) eachKey(n node, want string, read func(name string, n node)) {
	pairs, ok := pairs(n.Node)
	if !ok {
		d.failKind(n, want)
		return
	}
	lines := map[string]int{}
	for _, pair := range pairs {
		key := pair.Key.GetToken()
		if !validKey(pair.Key) {
			d.failAtKey(key, n.path, shown(key.Value), "must be a plain key, without anchor, alias, tag or merge")
			continue
		}
		v := node{Node: pair.Value, path: child(n.path, key.Value), key: key}
		if line, twice := lines[key.Value]; twice {
			d.failAtKey(key, v.path, "", "given twice, first in line "+strconv.Itoa(line))
			continue
		}
		lines[key.Value] = key.Position.Line
		read(key.Value, v)
	}
}

// failAtKey adds an error at key. The source may have another place for path.
func (d *decoder) failAtKey(key *token.Token, path, value, want string) {
	d.errs = append(d.errs, &FieldError{
		File: cmp.Or(d.file, d.src.file), Line: max(1, key.Position.Line), Column: max(1, key.Position.Column), Path: path, Value: value, Want: want,
	})
}

// pairs returns the keys and values of a section, and whether n is one.
func pairs(n ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	case *ast.NullNode:
		return nil, true
	}
	return nil, false
}

// isSection reports whether n has keys.
func isSection(n ast.Node) bool {
	pairs, ok := pairs(n)
	return ok && len(pairs) > 0
}

func validKey(k ast.MapKeyNode) bool {
	switch k.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	}
	return false
}

// list returns a function that calls begin with the number of elements, then each for every element of a list. One variable may
// hold the whole list.
func (d *decoder) list(want string, begin func(n int), each func(node)) func(node) {
	return func(n node) {
		if text, ok := variableText(n.Node); ok {
			d.listOfVariable(n, text, begin, each)
			return
		}
		seq, ok := n.Node.(*ast.SequenceNode)
		if !ok {
			d.failKind(n, want)
			return
		}
		d.notePlace(node{Node: seq, path: n.path}, place{})
		begin(len(seq.Values))
		for i, v := range seq.Values {
			e := node{Node: v, path: item(n.path, i)}
			d.notePlace(e, place{})
			each(e)
		}
	}
}

// elements is list for elements of one type. Each is read into its place in a new list.
func elements[T any](d *decoder, want string, dst *[]T, read func(*T) func(node)) func(node) {
	begin := func(n int) { *dst = slices.Grow([]T(nil), n) } // nil for an empty list
	return d.list(want, begin, func(n node) {
		*dst = append(*dst, *new(T))
		read(&(*dst)[len(*dst)-1])(n)
	})
}

// notePlace notes where n is: at its key if it has one, otherwise where its value begins.
// An empty value behind a key has no place of its own: it stays at the key.
func (d *decoder) notePlace(n node, p place) {
	at := n.key
	if at == nil && n.Node != nil {
		at = start(n.Node)
	}
	if at.Type == token.ImplicitNullType && d.src.given(n.path) {
		return
	}
	p.file, p.line, p.column = d.file, max(1, at.Position.Line), max(1, at.Position.Column)
	d.src.places.set(n.path, p)
}

// failKind adds the error for a value of another kind than the one wanted.
func (d *decoder) failKind(n node, want string) {
	value, want := d.kind(n, want)
	d.notePlace(node{Node: n.Node, path: n.path}, place{})
	d.failWithValue(n.path, value, want)
}

// kind returns what an error shows in place of a value of another kind than the one wanted, and what is wanted.
func (d *decoder) kind(n node, want string) (value, wanted string) {
	switch n.Node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		value = "a section"
		if unquotedColon(n.Node) {
			want += "; " + wantQuotes
		}
	case *ast.SequenceNode:
		value = "a list"
	case *ast.NullNode:
		value = "nothing"
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		value, want = n.GetToken().Value, wantPlain
	default:
		if !d.isSecret(n) {
			value = shown(n.GetToken().Value)
		}
	}
	return value, want
}

// scalar returns the text of a value with its variables expanded. If the value is
// no single value, it adds an error, and ok is false. bare is false for a value in
// quotes, which is a string in YAML, unless it has a variable: in a flow mapping
// the braces of ${VAR} need the quotes.
func (d *decoder) scalar(n node, want string) (text string, bare, ok bool) {
	switch v := n.Node.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode: // they are ScalarNodes too
	case *ast.LiteralNode:
		text, ok = v.Value.Value, true
	case ast.ScalarNode:
		_, null := v.(*ast.NullNode)
		text, ok = v.GetToken().Value, !null
	}
	if !ok {
		d.failKind(n, want)
		return "", false, false
	}
	given := text
	if d.isSecret(n) {
		given = stars
	}
	d.notePlace(node{Node: n.Node, path: n.path}, place{text: given, scalar: true})
	if n.expanded != nil {
		return *n.expanded, true, true
	}
	if want := noRegex(n.path, text); want != "" {
		d.fail(n.path, want)
		return "", false, false
	}
	value, err := expand(text, d.lookup)
	if err != nil {
		d.fail(n.path, err.Error())
		return "", false, false
	}
	switch n.GetToken().Type {
	case token.DoubleQuoteType, token.SingleQuoteType, token.LiteralType, token.FoldedType:
		bare = strings.Contains(text, "${")
	default:
		bare = true
	}
	return value, bare, true
}
