package config

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// otherFormats are the signs by which a file of another program is known, in the order in which they are tried. VCL is before
// nginx: some of its lines could be of nginx.
var otherFormats = []struct {
	of   string
	sign *regexp.Regexp
}{
	{"a VCL of Varnish", regexp.MustCompile(`(?m)^[ \t]*(?:vcl\s+[0-9.]+;|(?:sub|backend|acl|probe)\s+[A-Za-z_]\w*\s*\{)`)},
	{"a configuration of Apache", regexp.MustCompile(`(?m)^[ \t]*<(?:VirtualHost|Location|LocationMatch|Directory|Proxy|IfModule)\b`)},
	{"a configuration of Traffic Server", regexp.MustCompile(`(?m)^[ \t]*(?:(?:CONFIG|LOCAL)\s+proxy\.|(?:map|regex_map|reverse_map|redirect)\s+\S+://\S*\s+\S+://)`)},
	{"a configuration of Squid", regexp.MustCompile(`(?m)^(?:https?_port|cache_peer|refresh_pattern|http_access)[ \t]+\S`)},
	{"a configuration of nginx", regexp.MustCompile(`(?m)^[ \t]*(?:(?:server|http|events|stream|location\b[^{\n]*|upstream\s+\S+|map\s[^{\n]*)\s*\{[^}]*;|[a-z_0-9]+\s+[^;:{}\n]*(?::[^ ;\n][^;\n]*)?;[ \t]*(?:#.*)?$)`)},
	{"a configuration of HAProxy", regexp.MustCompile(`(?m)^(?:frontend|backend|listen|defaults|global)\b[^{;:\n]*\n(?:[ \t]*(?:#.*)?\n)*[ \t]+[a-z]`)},
	{"a Caddyfile", regexp.MustCompile(`(?m)^(?:[^\s#{}]*[^\s#{}:][ \t]*\{[ \t]*$|[ \t]*(?:reverse_proxy|file_server|php_fastcgi|respond|redir|encode|handle|import)[ \t]+\S)`)},
	{"TOML", regexp.MustCompile(`(?m)^[ \t]*\[{1,2}[\w."-]+\]{1,2}[ \t]*\n(?:.*\n)*?[ \t]*[\w-]+[ \t]*=`)},
}

// ownKey matches a line that only a file of ours has.
var ownKey = regexp.MustCompile(`(?m)^"?(?:origins|routes|include|listen|admin|cache|admission|limits)"?[ \t]*:`)

// otherFormat returns the error for a file that another program reads, or nil. It is asked only of files that are no YAML, or no section.
func otherFormat(file string, data []byte) *FieldError {
	if ownKey.Match(data) {
		return nil
	}
	for _, f := range otherFormats {
		at := f.sign.FindIndex(data)
		if at == nil {
			continue
		}
		begin := at[0] + len(data[at[0]:]) - len(bytes.TrimLeft(data[at[0]:], " \t"))
		line, column := position(data[:begin])
		return &FieldError{
			File: file, Line: line, Column: column,
			Want: "this is " + f.of + `: must be YAML with settings of edgeproxy, such as origins: {app: {servers: ["http://127.0.0.1:9000"]}}; docs/moving.md translates one`,
		}
	}
	return nil
}

// isNoKeys reports whether a document cannot be meant as settings: it is a text, or its keys are no names.
func isNoKeys(root ast.Node) bool {
	if _, text := root.(*ast.StringNode); text {
		return true
	}
	all, ok := pairs(root)
	return ok && len(all) > 0 && strings.ContainsAny(all[0].Key.GetToken().Value, " \t{};<")
}
