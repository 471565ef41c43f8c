package purge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
)

// tagFields are fields of each kind.
func tagFields() purge.TagFields {
	return purge.NewTagFields("Surrogate-Key", "Cache-Tag", "Xkey", "X-Magento-Tags", "X-Cache-Tags", "X-Amz-Meta-Cache-Tag", "X-Own-Tags")
}

func TestAppendTagsReadsAllFields(t *testing.T) {
	table := purge.New(purge.Options{})
	f := func(h field.List, names ...string) {
		t.Helper()
		var want []uint64
		for _, name := range names {
			want = append(want, table.HashTag(name))
		}
		if got := table.AppendTags(nil, h, tagFields()); !slices.Equal(got, want) {
			t.Errorf("%v: got %d tags, want those of %q", h, len(got), names)
		}
	}

	f(nil)
	f(field.List{{Name: "Surrogate-Key", Value: ""}, {Name: "Cache-Tag", Value: " , ,\t"}})
	f(field.List{{Name: "Surrogate-Key", Value: "a  b\tc "}}, "a", "b", "c")
	f(field.List{{Name: "Surrogate-Key", Value: "a,b"}}, "a,b")
	f(field.List{{Name: "Cache-Tag", Value: "a, b c ,d"}}, "a", "b c", "d")
	f(field.List{{Name: "Surrogate-Key", Value: "a b"}, {Name: "Surrogate-Key", Value: "b c"}, {Name: "Cache-Tag", Value: "c,d"}}, "a", "b", "c", "d")
	f(field.List{{Name: "Xkey", Value: "a b, c"}, {Name: "X-Magento-Tags", Value: "cat_p_1,cat_p_1,FPC"}}, "a", "b", "c", "cat_p_1", "FPC")
	f(field.List{{Name: "X-Cache-Tags", Value: "a,b"}, {Name: "X-Amz-Meta-Cache-Tag", Value: "b, c d"}}, "a", "b", "c d")
	f(field.List{{Name: "X-Own-Tags", Value: "a, b c,,d\te"}}, "a", "b", "c", "d", "e")
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
	exact := table.AppendTags(nil, keys(""), tagFields())
	if len(exact) != purge.MaxTags {
		t.Fatalf("got %d tags, want %d", len(exact), purge.MaxTags)
	}
	if again := table.AppendTags(exact, keys(""), tagFields()); len(again) != purge.MaxTags {
		t.Errorf("the same tags once more: got %d, want %d", len(again), purge.MaxTags)
	}
	many := table.AppendTags(nil, keys(" one more and another"), tagFields())
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

// A purge of a tag of one host reached those of other hosts that have too many tags to tell.
func TestATagOfOneHostReachedAnother(t *testing.T) {
	table := purge.New(purge.Options{})
	born := table.Now()
	table.HostTags([]byte("a"), false, table.HashTag("red"))
	f := func(host string, want purge.State, tags ...uint64) {
		t.Helper()
		for _, scheme := range []string{"http", "https"} {
			u := purge.URL{Scheme: scheme, Host: []byte(host), Target: []byte("/")}
			if got := table.Check(born, u, tags); got != want {
				t.Errorf("%s://%s with %d: got %v, want %v", scheme, host, tags, got, want)
			}
		}
	}
	f("a", purge.Gone, table.HashTag("blue"), table.HashTag("red"))
	f("a", purge.Gone, purge.AnyTag)
	f("a", purge.Valid, table.HashTag("blue"))
	f("a", purge.Valid)
	f("a:8080", purge.Valid, table.HashTag("red"))
	f("b", purge.Valid, table.HashTag("red"))
	f("b", purge.Valid, purge.AnyTag)
	table.Tag(table.HashTag("red"), true)
	f("b", purge.Stale, table.HashTag("red"))
	f("b", purge.Stale, purge.AnyTag)
	if got := table.Stats().Tags; got != 3 {
		t.Errorf("got %d marks of tags, want 3: that of the host, that for too many tags, and the other", got)
	}
}

func TestAFieldOfTheSameShapeIsNoTagField(t *testing.T) {
	f := purge.NewTagFields("x-own-tags") // ten characters from X, as X-Own-Taps
	if !f.Has("X-Own-Tags") || f.Has("X-Own-Taps") || f.Has("") || (purge.TagFields{}).Has("X-Own-Tags") {
		t.Error("not exactly X-Own-Tags lists tags")
	}
}
