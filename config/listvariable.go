package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// variableText returns the text of a value that is one variable and nothing else, not expanded. An element of a list, and a text
// with something around the variable, is none.
func variableText(n ast.Node) (text string, ok bool) {
	s, ok := n.(*ast.StringNode)
	if !ok {
		return "", false
	}
	inside, begins := strings.CutPrefix(s.Value, "${")
	return s.Value, begins && strings.Index(inside, "}") == len(inside)-1
}

// splitVariable returns the elements of a list that one variable holds, with commas between them. Spaces around an
// element do not count. A variable without any text is an empty list.
func splitVariable(text string, lookup lookupFunc) ([]string, error) {
	all, err := expand(text, lookup)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(all) == "" {
		return nil, nil
	}
	parts := strings.Split(all, ",")
	for i := range parts {
		if parts[i] = strings.TrimSpace(parts[i]); parts[i] == "" {
			return nil, errors.New("must have no empty element: element " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(parts)) + " of the variable is empty")
		}
	}
	return parts, nil
}

// listOfVariable reads the elements of a list that one variable holds. Each is at the place of the whole value.
func (d *decoder) listOfVariable(n node, text string, begin func(n int), each func(node)) {
	d.notePlace(node{Node: n.Node, path: n.path}, place{text: text, scalar: true})
	parts, err := splitVariable(text, d.lookup)
	if err != nil {
		d.fail(n.path, err.Error())
		return
	}
	begin(len(parts))
	for i := range parts {
		each(node{Node: n.Node, path: item(n.path, i), expanded: &parts[i]})
	}
}
