package config

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The parser's work and memory grow with the square of the depth. No real file comes
// near these limits.
const (
	maxFileBytes = 1 << 20
	maxDepth     = 50
)

// parseYAML returns the value of the only document in data, nil if there is none.
// Keys given twice stay in it: they are reported with all other errors.
func parseYAML(file string, data []byte) (ast.Node, *FieldError) {
	if len(data) > maxFileBytes {
		return nil, wantAt(file, 1, 1, "must be a file of at most "+Size(maxFileBytes).String())
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := invalidUTF8(data); i >= 0 {
		line, column := position(data[:i])
		return nil, wantAt(file, line, column, "must be text in UTF-8")
	}
	tokens := lexer.Tokenize(string(data))
	if tk := tooDeep(tokens); tk != nil {
		return nil, wantAt(file, tk.Position.Line, tk.Position.Column, "must have less nesting")
	}
	root, problem := parseTokens(file, tokens)
	if problem != nil || root != nil && isNoKeys(root) {
		if other := otherFormat(file, data); other != nil {
			return nil, other
		}
	}
	return root, problem
}

// parseTokens returns the value of the only document in tokens, nil if there is none.
func parseTokens(file string, tokens token.Tokens) (ast.Node, *FieldError) {
	parsed, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		line, column, message := syntaxError(err)
		return nil, wantAt(file, line, column, message)
	}
	var root ast.Node
	for _, doc := range parsed.Docs {
		switch {
		case doc.Body == nil:
		case root != nil:
			at := start(doc.Body).Position
			return nil, wantAt(file, at.Line, at.Column, "must be a single document")
		default:
			root = doc.Body
		}
	}
	return root, nil
}

// wantAt is the error for a place in a file.
func wantAt(file string, line, column int, want string) *FieldError {
	return &FieldError{File: file, Line: max(1, line), Column: max(1, column), Want: want}
}

// syntaxError returns the parts of the parser's error. Its type is internal to the
// parser, so they come from its methods.
func syntaxError(err error) (line, column int, message string) {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &at) {
		return 1, 1, "not valid YAML: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	message = "not valid YAML: " + strings.ReplaceAll(at.GetMessage(), "\n", " ")
	if at.GetMessage() == "found an invalid key for this map" { // also the parser's error for ::1 without quotes
		message += "; " + wantQuotes
	}
	if strings.HasPrefix(at.GetMessage(), "found unknown escape character") {
		message += "; a text with a backslash stands in single quotes, or in none"
	}
	if tk := at.GetToken(); tk != nil && tk.Position != nil {
		return tk.Position.Line, tk.Position.Column, message
	}
	return 1, 1, message
}

// tooDeep returns the token at which the nesting exceeds maxDepth, or nil. It counts
// only brackets and the signs that open several levels on one line: by indentation
// alone the depth is at most the square root of twice the file's length.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets, signs, line := 0, 0, 0
	for _, tk := range tokens {
		if tk.Position.Line != line {
			signs, line = 0, tk.Position.Line
		}
		switch tk.Type { //nolint:exhaustive // the rest opens nothing
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets = max(0, brackets-1)
		case token.SequenceEntryType, token.MappingKeyType, token.AnchorType, token.TagType:
			signs++
		}
		if brackets+signs > maxDepth {
			return tk
		}
	}
	return nil
}

// start returns the first token of a value. The token of a block mapping is the colon
// behind its first key, so start returns the key.
func start(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// invalidUTF8 returns the index of the first byte in data that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// position returns the line and column, from 1, of what follows before.
func position(before []byte) (line, column int) {
	last := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[last:]) + 1
}
