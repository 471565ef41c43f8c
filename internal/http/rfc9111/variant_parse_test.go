package rfc9111

import (
	"reflect"
	"testing"
)

func TestAVariantIsReadBack(t *testing.T) {
	b := AppendVariantField(nil, "Accept-Encoding", [][]byte{[]byte("gzip")})
	b = AppendVariantField(b, "Accept-Language", nil)
	b = AppendVariantField(b, "X-A", [][]byte{[]byte(""), []byte("2")})
	want := []VariantField{{"Accept-Encoding", []string{"gzip"}}, {"Accept-Language", nil}, {"X-A", []string{"", "2"}}}
	if got, ok := ParseVariant(b); !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, ok, want)
	}
	if got, ok := ParseVariant(nil); !ok || got != nil {
		t.Errorf("nothing: got %v, %v", got, ok)
	}
	for n := range b {
		if got, ok := ParseVariant(b[:n]); ok && len(got) > 2 {
			t.Errorf("cut at %d: got %v", n, got)
		}
	}
	if _, ok := ParseVariant([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")); ok {
		t.Error("no number: got ok")
	}
}
