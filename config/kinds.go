package config

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Each of these functions binds a field to one kind of value.

// size is a number of bytes.
func size[T int | int64 | Size](field *T, byDefault T) *number[T] {
	return &number[T]{scalar: scalar[T]{
		field: field, byDefault: byDefault, kindText: "size", yaml: func(n T) string { return Size(n).String() }, shape: func() object { return ref("size") },
		decode: func(d *decoder, f *T) func(node) {
			return converted(d, f, errSize.Error(), func(s string) (T, error) {
				n, err := ParseSize(s)
				return T(n), err
			})
		},
	}}
}

// stage is a size, or auto.
func stage(field *Size) *number[Size] {
	out := size(field, AutoStage).or(AutoStage)
	out.kindText = "size, or " + autoWord
	out.yaml = func(s Size) string {
		if s == AutoStage {
			return autoWord
		}
		return s.String()
	}
	out.shape = func() object { return object{"anyOf": []any{object{"const": autoWord}, ref("size")}} }
	out.decode = func(d *decoder, f *Size) func(node) {
		return converted(d, f, errStage.Error(), func(s string) (Size, error) {
			if s == autoWord {
				return AutoStage, nil
			}
			n, err := ParseSize(s)
			if errors.Is(err, errSize) {
				err = errStage
			}
			return n, err
		})
	}
	return out
}

var errStage = errors.New("must be auto, or a size with a unit (B, KB, KiB, MB, MiB, GB or GiB), such as 16MiB")

// duration is a length of time.
func duration(field *time.Duration, byDefault time.Duration) *number[time.Duration] {
	return &number[time.Duration]{scalar: scalar[time.Duration]{
		field: field, byDefault: byDefault, kindText: "duration", yaml: formatDuration, shape: func() object { return ref("duration") },
		decode: func(d *decoder, f *time.Duration) func(node) { return d.duration(f) },
	}}
}

// count is a whole number of things.
func count[T int | int64](field *T, byDefault T) *number[T] {
	return &number[T]{scalar: scalar[T]{
		field: field, byDefault: byDefault, kindText: "whole number", shape: func() object { return object{"type": "integer"} },
		yaml:   func(v T) string { return strconv.FormatInt(int64(v), 10) },
		decode: integer[T],
	}}
}

// ratio is a decimal number.
func ratio(field *float64, byDefault float64) *number[float64] {
	return &number[float64]{scalar: scalar[float64]{
		field: field, byDefault: byDefault, kindText: "number", yaml: formatRatio, shape: func() object { return object{"type": "number"} },
		decode: func(d *decoder, f *float64) func(node) { return d.ratio(f) },
	}}
}

// formatRatio writes a number with a decimal point, so that it does not look like a count.
func formatRatio(f float64) string {
	if f > 0 && f < 1e-6 {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// boolean is true or false.
func boolean(field *bool, byDefault bool) *scalar[bool] {
	return &scalar[bool]{
		field: field, byDefault: byDefault, kindText: "true or false", yaml: strconv.FormatBool, shape: func() object { return orVariable(object{"type": "boolean"}) },
		decode: func(d *decoder, f *bool) func(node) { return d.boolean(f) },
	}
}

// enum is one of several values, each with a word: its text, or what its String returns.
func enum[T comparable](field *T, byDefault T, all ...T) *scalar[T] {
	return &scalar[T]{
		field: field, byDefault: byDefault, words: func() []string { return asTexts(all) }, yaml: func(v T) string { return quoted(wordOf(v)) },
		decode: func(d *decoder, f *T) func(node) {
			return func(n node) {
				if i := word(d, n, asTexts(all)); i >= 0 {
					*f = all[i]
				}
			}
		},
		shape: func() object { return oneOfWords(asTexts(all)) },
	}
}

// either is a boolean with a word for false and one for true.
func either(field *bool, byDefault bool, no, yes string) *scalar[bool] {
	both := []string{no, yes}
	return &scalar[bool]{
		field: field, byDefault: byDefault, words: func() []string { return both }, shape: func() object { return oneOfWords(both) },
		yaml: func(v bool) string {
			if v {
				return quoted(yes)
			}
			return quoted(no)
		},
		decode: func(d *decoder, f *bool) func(node) {
			return func(n node) {
				if i := word(d, n, both); i >= 0 {
					*f = i == 1
				}
			}
		},
	}
}

// wordOf returns the word of a value of an enum.
func wordOf[T comparable](v T) string { return strings.ToLower(fmt.Sprint(v)) }

// enumValues is words for JSON Schema, with - and _ as they are read. A word that YAML reads as a number is in it as a number, too.
func enumValues(words []string) []any {
	var out []any
	for _, w := range words {
		out = append(out, w)
		if f, err := strconv.ParseFloat(w, 64); err == nil {
			out = append(out, f)
		}
	}
	for _, w := range words {
		if other := otherSeparator(w); other != w {
			out = append(out, other)
		}
	}
	return out
}

// oneOfWords is the JSON Schema of one of several words.
func oneOfWords(words []string) object { return orVariable(object{"enum": enumValues(words)}) }

func asTexts[T comparable](all []T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = wordOf(v)
	}
	return out
}

// aText is the JSON Schema of any text.
func aText() object { return ref("text") }

// textual is any text.
func textual(field *string, byDefault string) *scalar[string] {
	return &scalar[string]{
		field: field, byDefault: byDefault, kindText: "text", yaml: func(s string) string { return quoted(shownURL(s)) }, shape: aText,
		decode: func(d *decoder, f *string) func(node) { return d.text(f) },
	}
}

// secret is text that is not shown.
func secret(field *Secret) *scalar[Secret] {
	return &scalar[Secret]{
		field: field, kindText: "text, a secret", yaml: func(s Secret) string { return quoted(s.String()) }, shape: aText,
		decode: func(d *decoder, f *Secret) func(node) { return d.secret(f) },
	}
}

// parsed is a value that read parses from text. write formats it.
func parsed[T any](field *T, byDefault T, what, want string, read func(string) (T, error), write func(T) string) *scalar[T] {
	return &scalar[T]{
		field: field, byDefault: byDefault, kindText: what, yaml: func(v T) string { return quoted(write(v)) }, shape: aText,
		decode: func(d *decoder, f *T) func(node) { return converted(d, f, want, read) },
	}
}

// list is a list of values, each bound by one. of names its elements.
func list[T any](field *[]T, byDefault []T, of, want string, one func(*T) *scalar[T]) *scalar[[]T] {
	return &scalar[[]T]{
		field: field, byDefault: byDefault, kindText: "list of " + of,
		decode: func(d *decoder, f *[]T) func(node) {
			return elements(d, want, f, func(v *T) func(node) { return one(v).read(d) })
		},
		yaml: func(all []T) string {
			parts := make([]string, len(all))
			for i := range all {
				parts[i] = one(&all[i]).yaml(all[i])
			}
			return "[" + strings.Join(parts, ", ") + "]"
		},
		shape: func() object { return listShape(one(new(T)).schema()) },
	}
}

// listShape is the JSON Schema of a list, which one variable may hold.
func listShape(one object) object {
	return object{"anyOf": []any{object{"type": "array", "items": one}, ref("variable")}}
}

// texts is a list of texts.
func texts(field *[]string, of, want string) *scalar[[]string] {
	return list(field, nil, of, want, func(s *string) *scalar[string] { return textual(s, "") })
}

// quoted is text as a value in YAML, without quotes if every reader takes it for text.
func quoted(text string) string {
	bare := text != "" && !slices.Contains(notBare, strings.ToLower(text)) && letter(rune(text[0])) &&
		!strings.ContainsFunc(text, func(r rune) bool { return !letter(r) && !strings.ContainsRune("0123456789-_./*", r) })
	if bare {
		return text
	}
	text = strings.ReplaceAll(text, "$", "$$")
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case !strconv.IsPrint(r):
			b.WriteString(`\U` + strconv.FormatInt(0x100000000+int64(r), 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// notBare is words that some readers of YAML take for booleans or null.
var notBare = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}

func letter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// shownURL is text without the password of a URL.
func shownURL(text string) string {
	if strings.Contains(text, "://") {
		return masked(text)
	}
	return text
}
