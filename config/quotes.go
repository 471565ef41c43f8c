package config

import (
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// wantQuotes is the error for a value such as http://h:80 or 2001:db8::1 within braces or brackets:
// without quotes the parser may take it for a key and its value.
const wantQuotes = "quote a value with a colon in it"

// noSpaceAfterColon reports whether a value begins right behind the colon of its key, on the same line.
// It reports false for keys in quotes, which JSON writes so.
func noSpaceAfterColon(key, value ast.Node) bool {
	k, v := key.GetToken(), value.GetToken()
	if k.Type == token.DoubleQuoteType || k.Type == token.SingleQuoteType {
		return false // JSON writes it so
	}
	return v != nil && v.Position.Line == k.Position.Line &&
		v.Position.Column == k.Position.Column+utf8.RuneCountInString(strings.TrimSpace(k.Origin))+1
}

// unquotedColon reports whether n is a section only because a value with a colon has no quotes.
func unquotedColon(n ast.Node) bool {
	pairs, _ := pairs(n)
	return len(pairs) == 1 && noSpaceAfterColon(pairs[0].Key, pairs[0].Value)
}
