package http2

import (
	"fmt"
	"slices"
	"testing"

	"golang.org/x/net/http2/hpack"

	"edgeproxy/internal/http/field"
)

// TestEachPlaceHasItsName, also where the answer before had another one there, and where there are
// more fields than places, or more names than are kept.
func TestEachPlaceHasItsName(t *testing.T) {
	var e encoder
	e.init()
	d := hpack.NewDecoder(tableBytes, nil)
	check := func(list field.List, lines string, want ...string) {
		t.Helper()
		e.head(200)
		e.fields(list)
		e.lines([]byte(lines))
		got, err := d.DecodeFull(e.block)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range got[1:] {
			names = append(names, f.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("got %q, want %q", names, want)
		}
	}
	check(fieldList("Etag", "1", "X-Own", "2", "Vary", "3"), "Age: 1\r\nX-Line: 2\r\n", "etag", "x-own", "vary", "age", "x-line")
	check(fieldList("Etag", "1", "X-Own", "2", "Vary", "3"), "Age: 1\r\nX-Line: 2\r\n", "etag", "x-own", "vary", "age", "x-line")
	check(fieldList("Vary", "1", "X-Other", "2", "Connection", "3"), "Date: 1\r\nX-Further: 2\r\n", "vary", "x-other", "date", "x-further")
	var list field.List
	var want []string
	for i := range mostNames + 2*places {
		list.Add(fmt.Sprintf("X-%d", i), "1")
		want = append(want, fmt.Sprintf("x-%d", i))
	}
	check(list, "", want...)
	check(list, "", want...)
	if len(e.names) > mostNames {
		t.Errorf("got %d names, want at most %d", len(e.names), mostNames)
	}
}
