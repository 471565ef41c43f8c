package edge

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// statusFields returns the paths of all fields of a document. The fields of a type that stands at several places are
// those of its first place.
func statusFields(document reflect.Type) (out []string) {
	seen := map[reflect.Type]bool{}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer:
			walk(path, of.Elem())
			return
		case reflect.Slice:
			walk(path+"[]", of.Elem())
			return
		case reflect.Map:
			walk(path+".*", of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[of] || of == reflect.TypeFor[time.Time]() {
			return
		}
		seen[of] = true
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" {
				walk(path, f.Type)
				continue
			}
			at := strings.TrimPrefix(path+"."+name, ".")
			out = append(out, at)
			walk(at, f.Type)
		}
	}
	walk("", document)
	return out
}

// TestThePageOfTheStatusHasEveryField: docs/status.md has a row for each field of the status and then of the history, in the order of the documents,
// and for nothing else.
func TestThePageOfTheStatusHasEveryField(t *testing.T) {
	text, err := os.ReadFile("../../docs/status.md")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]{3,} \\|$").FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	if want := append(statusFields(reflect.TypeFor[Status]()), statusFields(reflect.TypeFor[History]())...); !slices.Equal(got, want) {
		for _, path := range want {
			if !slices.Contains(got, path) {
				t.Errorf("docs/status.md has no row for %s", path)
			}
		}
		for i, path := range got {
			if !slices.Contains(want, path) {
				t.Errorf("docs/status.md has a row for %s, which is no field", path)
			} else if i < len(want) && want[i] != path && len(got) == len(want) {
				t.Errorf("row %d: got %s, want %s", i, path, want[i])
			}
		}
	}
}
