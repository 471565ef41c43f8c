package config

import (
	"errors"
	"strings"
)

// A lookupFunc returns the value of an environment variable and whether it is
// set, like os.LookupEnv.
type lookupFunc func(name string) (string, bool)

var errDollar = errors.New("must be ${VAR}, ${VAR:-default}, or $$ for a dollar sign")

// expand replaces ${VAR} and ${VAR:-default} in text by the variable's value and
// $$ by a dollar sign. As in a shell, the default replaces a variable that is
// unset or empty, and may itself be empty. Without a default an unset variable is
// an error. Any other dollar sign is an error too: $VAR, ${VAR-x} and a nested
// ${A:-${B}} are not supported. Expanded text is not expanded again.
func expand(text string, lookup lookupFunc) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		switch {
		case !found:
			return out.String(), nil
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "{"):
			inside, rest, closed := strings.Cut(after[1:], "}")
			if !closed {
				return "", errDollar
			}
			value, err := variable(inside, lookup)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			text = rest
		default:
			return "", errDollar
		}
	}
}

// variable returns the value of ${inside}.
func variable(inside string, lookup lookupFunc) (string, error) {
	name, fallback, hasFallback := strings.Cut(inside, ":-")
	if !validVariable(name) {
		return "", errDollar
	}
	fallback, err := undollar(fallback)
	if err != nil {
		return "", err
	}
	value, set := lookup(name)
	switch {
	case hasFallback && value == "":
		return fallback, nil
	case !set:
		return "", errors.New("needs the environment variable " + name + " to be set, or a default: ${" + name + ":-…}")
	}
	return value, nil
}

// undollar turns $$ into a dollar sign and refuses any other.
func undollar(s string) (string, error) {
	parts := strings.Split(s, "$$")
	for _, p := range parts {
		if strings.Contains(p, "$") {
			return "", errDollar
		}
	}
	return strings.Join(parts, "$"), nil
}

// validVariable reports whether name is a valid name of a variable in a POSIX shell.
func validVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
