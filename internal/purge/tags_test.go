package purge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/field"
	"edgeproxy/internal/purge"
)

func TestAppendTagsReadsBothFields(t *testing.T) {
	table := purge.New(purge.Options{})
	f := func(h field.List, names ...string) {
		t.Helper()
		var want []uint64
		for _, name := range names {
			want = append(want, table.HashTag(name))
		}
		if got := table.AppendTags(nil, h); !slices.Equal(got, want) {
			t.Errorf("%v: got %d tags, want those of %q", h, len(got), names)
		}
	}

	f(nil)
	f(field.List{{Name: "Surrogate-Key", Value: ""}, {Name: "Cache-Tag", Value: " , ,\t"}})
	f(field.List{{Name: "Surrogate-Key", Value: "a  b\tc "}}, "a", "b", "c")
	f(field.List{{Name: "Surrogate-Key", Value: "a,b"}}, "a,b")
	f(field.List{{Name: "Cache-Tag", Value: "a, b c ,d"}}, "a", "b c", "d")
	f(field.List{{Name: "Surrogate-Key", Value: "a b"}, {Name: "Surrogate-Key", Value: "b c"}, {Name: "Cache-Tag", Value: "c,d"}}, "a", "b", "c", "d")
	f(field.List{{Name: "X-Key", Value: "a"}})
}

// A tag that was left out could never be purged.
func TestTooManyTagsAreEveryTag(t *testing.T) {
	table := purge.New(purge.Options{})
	names := make([]string, purge.MaxTags)
	for i := range names {
		names[i] = fmt.Sprint("t", i)
	}
	keys := func(extra string) field.List {
		return field.List{{Name: "Surrogate-Key", Value: strings.Join(names, " ") + extra}}
	}
	exact := table.AppendTags(nil, keys(""))
	if len(exact) != purge.MaxTags {
		t.Fatalf("got %d tags, want %d", len(exact), purge.MaxTags)
	}
	if again := table.AppendTags(exact, keys("")); len(again) != purge.MaxTags {
		t.Errorf("the same tags once more: got %d, want %d", len(again), purge.MaxTags)
	}
	many := table.AppendTags(nil, keys(" one more and another"))
	if !slices.Equal(many, []uint64{purge.AnyTag}) {
		t.Fatalf("got %d tags, want AnyTag alone", len(many))
	}

	f := func(name string, soft bool, want purge.State) {
		t.Helper()
		born := table.Now()
		table.Tag(table.HashTag(name), soft)
		if got := table.Check(born, at("a", "/"), many); got != want {
			t.Errorf("after a purge of %q: got %v, want %v", name, got, want)
		}
		if got := table.Check(table.Now(), at("a", "/"), many); got != purge.Valid {
			t.Errorf("born after a purge of %q: got %v, want %v", name, got, purge.Valid)
		}
	}
	f("t3", true, purge.Stale)
	f("more", false, purge.Gone)
	f("a stranger", false, purge.Gone)
}

func TestGroupsBelongToOneOrigin(t *testing.T) {
	table := purge.New(purge.Options{})
	seen := map[uint64]string{table.HashTag("g"): "the tag g"}
	for _, origin := range [][2]string{{"http", "a"}, {"https", "a"}, {"http", "b"}, {"http", "a:81"}} {
		h := table.HashGroup(origin[0], []byte(origin[1]), "g")
		if other, taken := seen[h]; taken {
			t.Errorf("group g of %v: got the hash of %s, want another", origin, other)
		}
		seen[h] = fmt.Sprint("group g of ", origin)
	}
	if a, b := table.HashGroup("http", []byte("a"), "g"), table.HashGroup("http", []byte("a"), "g"); a != b {
		t.Errorf("the same group twice: got %x and %x, want one hash", a, b)
	}
}
