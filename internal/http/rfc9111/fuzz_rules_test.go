package rfc9111

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/reason"
)

// For any fields: a response that may be stored can be used, and only as its directives allow.
func FuzzJudge(f *testing.F) {
	f.Add(200, "max-age=60, stale-while-revalidate=9", "", "", "", "Sun, 06 Nov 1994 08:49:37 GMT", "0")
	f.Add(200, "no-store", "max-age=5, private=\"a\"", `"a"`, "0", "", "1, 2")
	f.Add(404, "no-cache=\"a, b\", s-maxage=x", "no-cache", `W/"a"`, "", "Sunday, 06-Nov-94 08:49:37 GMT", "-1")
	f.Add(599, "public, must-understand, immutable", "max-age=(1 2)", "a", "Sun Nov  6 08:49:37 1994", "now", "7200;x=y")
	f.Add(206, "max-age=99999999999, stale-if-error=99999999999", "a;b=c", "", "", "", "99999999999")
	f.Fuzz(func(t *testing.T, status int, cacheControl, targeted, etag, expires, modified, age string) {
		h := field.List{{Name: "Age", Value: age}, {Name: "Content-Range", Value: age}, {Name: "Cache-Control", Value: cacheControl}}
		for name, value := range map[string]string{"Cdn-Cache-Control": targeted, "Etag": etag, "Expires": expires, "Last-Modified": modified} {
			if value != "" {
				h.Add(name, value)
			}
		}
		o := edge
		o.Partial = true
		req := RequestFacts{Method: "GET", Range: true}
		j := Judge(req, ResponseFacts{Status: status, Header: h, RequestTime: received, ResponseTime: received}, o)
		if j.Why == reason.None {
			checkPolicy(t, h, j)
		}
		d := directivesOf(h, false)
		h = append(field.List{{Name: "Cache-Control", Value: "no-store"}}, h...)
		again := Judge(req, ResponseFacts{Status: status, Header: h, RequestTime: received, ResponseTime: received}, o)
		if !d.targeted && !d.MustUnderstand && again.Why == reason.None {
			t.Errorf("%q after no-store: got stored", cacheControl)
		}
	})
}

func checkPolicy(t *testing.T, h field.List, j Judgement) {
	t.Helper()
	p := j.Policy
	initial := InitialAge(h, received, received)
	for _, span := range []any{p.Lifetime, p.WhileRevalidate, p.IfError, p.OriginFailure, p.Keep} {
		if s := fmt.Sprint(span); strings.HasPrefix(s, "-") {
			t.Errorf("got the span %s, want none below zero", s)
		}
	}
	if max(p.Lifetime, p.WhileRevalidate, p.IfError, p.OriginFailure, p.Keep) > maxSpan {
		t.Errorf("got %+v, want no span above %v", p, maxSpan)
	}
	if !p.Useful(initial) {
		t.Errorf("stored at age %v with %+v, want it of use", initial, p)
	}
	if (p.Validate || p.MustRevalidate) && p.WhileRevalidate+p.IfError+p.OriginFailure > 0 {
		t.Errorf("got %+v, want no stale use", p)
	}
	if p.Validate && ValidationFields(h, received) == nil {
		t.Error("stored to be validated without a validator")
	}
	for _, name := range j.Strip {
		if !field.ValidName(name) || field.Canonical(name) != name || !removable(name) {
			t.Errorf("got %q to be left out, want a name in canonical form that a message can do without", name)
		}
	}
}

// Beside a valid field, no-store counts; and what makes a field invalid hides all
// of it.
func FuzzTargeted(f *testing.F) {
	for _, seed := range []string{"", "max-age=60", `private="a, b";x`, "a, &&&", "max-age=60.0", `x=("a" 1;b)`, ":YQ==:", "@1", `%"a"`, "-", "a=-", "s-maxage=1", "é", strings.Repeat(" ", maxStructuredParts-1) + "a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, junk string) {
		of := func(value string) (ResponseDirectives, bool) {
			return parseTargeted(field.List{{Name: "Cdn-Cache-Control", Value: value}})
		}
		d, ok := of(junk)
		if !ok && (d.targeted || d.NoStore || d.MaxAge.Present()) {
			t.Errorf("%q: got %+v from an invalid field", junk, d)
		}
		list := field.List{{Name: "Cdn-Cache-Control", Value: "no-store, " + junk}}
		with, okWith := parseTargeted(list)
		if okWith && !with.NoStore {
			t.Errorf("%q after no-store: got %+v, want no-store", junk, with)
		}
		if _, within := structuredLines(list, "Cdn-Cache-Control"); ok && within && !okWith {
			t.Errorf("%q: got valid alone, invalid after no-store", junk)
		}
	})
}

// A 304 changes neither what the stored bytes are nor which response they are.
func FuzzUpdate(f *testing.F) {
	f.Add("Etag", `"a"`, "Etag", `"a"`, "close")
	f.Add("Content-Length", "5", "Content-Length", "6", "x-a")
	f.Add("X-A", "1", "X-A", "2", "X-A")
	f.Add("Etag", `W/"a"`, "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT", "")
	f.Fuzz(func(t *testing.T, storedName, storedValue, name, value, connection string) {
		storedName, name = field.Canonical(storedName), field.Canonical(name)
		stored := field.List{{Name: "Content-Length", Value: "5"}, {Name: storedName, Value: storedValue}}
		from := field.List{{Name: "Connection", Value: connection}, {Name: name, Value: value}, {Name: "Content-Encoding", Value: "br"}}
		got, ok := Update(stored, from)
		if !ok {
			return
		}
		if n := got.Values("Content-Length"); len(n) == 0 || n[0] != "5" || got.Has("Content-Encoding") && storedName != "Content-Encoding" {
			t.Errorf("%v by %v: got %v, want the description of the stored bytes", stored, from, got)
		}
		if HopByHop(name) && storedName != name && got.Has(name) {
			t.Errorf("%v by %v: got %v, want what ends at this hop left out", stored, from, got)
		}
		if before, had := validTag(stored); had {
			if after, _ := validTag(got); after != before {
				t.Errorf("%v by %v: got tag %s, want %s", stored, from, after, before)
			}
		}
		if again, ok := Update(got, from); !ok || len(again) != len(got) {
			t.Errorf("%v by %v, twice: got %v %v, want %v", stored, from, again, ok, got)
		}
	})
}

// AppendRanges agrees with ParseRange of each range alone.
func FuzzAppendRanges(f *testing.F) {
	for _, seed := range []string{"", "bytes=0-1", "bytes=0-1,3-4", "bytes=-1,,5-", "bytes=0-,0-,0-", "bytes=9-1,2-3", "BYTES=1-1 , 100-"} {
		f.Add([]byte(seed), int64(10))
		f.Add([]byte(seed), int64(0))
	}
	f.Fuzz(func(t *testing.T, value []byte, size int64) {
		const limit = 8
		got, kind := AppendRanges(nil, value, size, limit)
		if kind != RangeSatisfiable && len(got) > 0 || kind == RangeSatisfiable && len(got) == 0 || len(got) > limit {
			t.Fatalf("%q of %d: got %v with %v", value, size, got, kind)
		}
		if kind == RangeNone {
			return
		}
		var want []Range
		_, list, _ := bytes.Cut(value, []byte("="))
		for member := range bytes.SplitSeq(list, []byte(",")) {
			if member = trim(member); len(member) == 0 {
				continue
			}
			first, last, kind := ParseRange(append([]byte("bytes="), member...), size)
			if kind == RangeNone {
				t.Fatalf("%q of %d: got ranges, but %q alone is none", value, size, member)
			}
			if kind == RangeSatisfiable {
				want = append(want, Range{first, last})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q of %d: got %v, want %v", value, size, got, want)
		}
	})
}

func FuzzPartOf(f *testing.F) {
	for _, seed := range []string{"", "bytes 0-4/10", "bytes */10", "bytes 0-4/*", "bytes 5-4/10", "bytes /-", "bytes 9223372036854775806-9223372036854775806/9223372036854775807"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		of := func(v string) (Part, bool) { return PartOf(field.List{{Name: "Content-Range", Value: v}}) }
		p, ok := of(value)
		if !ok {
			return
		}
		if p.First < 0 || p.First > p.Last || p.Last >= p.Size || p.Length() < 1 || p.Length() > p.Size {
			t.Errorf("%q: got %+v, want a part", value, p)
		}
		if again, ok := of(fmt.Sprintf("bytes %d-%d/%d", p.First, p.Last, p.Size)); !ok || again != p {
			t.Errorf("%q: got %+v and then %+v", value, p, again)
		}
	})
}

// A query that was normalized is not changed by a second pass, and parameters that
// do not matter change nothing.
func FuzzAppendQuery(f *testing.F) {
	for _, seed := range []string{"", "a=1&b=2", "%61=%78&+", "&&=&=a", "%zz%", "utm=1&a", "a=\xff&%ff", "b&a&b=1"} {
		f.Add([]byte(seed), true, true)
		f.Add([]byte(seed), false, false)
	}
	f.Fuzz(func(t *testing.T, query []byte, unordered, except bool) {
		v := NoVarySearch{Unordered: unordered, Except: except, Names: []string{"a", "é"}}
		once := v.AppendQuery(nil, query)
		if bytes.Count(query, []byte("&")) >= maxParameters-1 {
			return
		}
		if twice := v.AppendQuery(nil, once); !bytes.Equal(once, twice) {
			t.Errorf("%q: got %q and then %q", query, once, twice)
		}
		idle := []byte("&%61=x&%C3%A9")
		if except {
			idle = []byte("&x=a&aa")
		}
		if got := v.AppendQuery(nil, append(idle, append([]byte("&"), query...)...)); bytes.Count(query, []byte("&")) < maxParameters-4 && !bytes.Equal(got, once) {
			t.Errorf("%q behind %q: got %q, want %q", query, idle, got, once)
		}
	})
}

// Groups are sorted, each once.
func FuzzGroups(f *testing.F) {
	for _, seed := range []string{"", `"a", "b"`, `"a";x=(1)`, "a b  c", "a, b,,c", `"\"`, "(", `"a",`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		groups := Groups(field.List{{Name: "Cache-Groups", Value: value}})
		for i, name := range groups {
			if i > 0 && groups[i-1] >= name {
				t.Errorf("%q: got %q, want them sorted, each once", value, groups)
			}
		}
	})
}

// No response purges another origin's, and what it purges can be asked for.
func FuzzInvalidationTargets(f *testing.F) {
	for _, seed := range []string{"", "/", "x?y#z", "//a.example/", "http://a.example:80/%2e%2e/", "https://a.example", "http:x", "//@/", "?", "\x00", "http://[::1", "/é b"} {
		f.Add(seed, "/dir/x?q")
		f.Add(seed, "*")
		f.Add("? 0", seed)
	}
	f.Fuzz(func(t *testing.T, location, target string) {
		u := URI{Scheme: "http", Host: "a.example", Target: target}
		for _, got := range invalidationTargets(field.List{{Name: "Location", Value: location}}, u) {
			if !strings.HasPrefix(got, "/") || strings.ContainsAny(got, "# \t\r\n\x00") {
				t.Errorf("%q from %q: got %q, want a target of a request", location, target, got)
			}
			if len(got) > maxReference/2 {
				return // encoding has made it longer than what is looked at
			}
			if again, ok := u.resolve("http://a.example" + got); !ok || again.Host != u.Host {
				t.Errorf("%q from %q: got %q, which is %+v", location, target, got, again)
			}
		}
	})
}

// invalidationTargets returns the request targets, on the origin of u, that the
// response to a request for u invalidates besides u itself: those in Location and
// Content-Location (RFC 9111 section 4.4). Others are left out, since one origin
// must not purge another's responses. There are at most two, and none where
// Invalidates is false.
func invalidationTargets(h field.List, u URI) []string {
	var out []string
	for _, name := range [...]string{"Location", "Content-Location"} {
		if target, ok := InvalidationTarget(h, name, u); ok && (len(out) == 0 || out[0] != target) {
			out = append(out, target)
		}
	}
	return out
}
