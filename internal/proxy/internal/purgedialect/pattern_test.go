package purgedialect_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"edgeproxy/internal/proxy/internal/purgedialect"
)

// patterns draws patterns of few characters, so that many of them select something of what urls draws.
type patterns struct{ *rand.Rand }

func (p patterns) text() string {
	var b strings.Builder
	for range p.IntN(3) {
		b.WriteString([]string{"a", "b", "/", `\.`}[p.IntN(4)])
	}
	return b.String()
}

// sequence is a text, at times with a group of others in it or behind it.
func (p patterns) sequence(depth int) string {
	out := p.text()
	if depth > 0 && p.IntN(3) == 0 {
		out += "(" + p.sequence(depth-1) + "|" + p.sequence(depth-1) + p.end() + ")"
	}
	return out
}

func (p patterns) end() string { return []string{"", ".*", "$", ".*$"}[p.IntN(4)] }

func (p patterns) url() string {
	return []string{"", "^"}[p.IntN(2)] + "/" + p.sequence(2) + p.end()
}

func (p patterns) target() string {
	out := "/"
	for range p.IntN(5) {
		out += string("ab/."[p.IntN(4)])
	}
	return out
}

// selects reports whether an order reaches a URL.
func selects(o *purgedialect.Order, target string) bool {
	return o.All || slices.Contains(o.URLs, target) || slices.ContainsFunc(o.Prefixes, func(prefix string) bool { return strings.HasPrefix(target, prefix) })
}

// TestAPatternSelectedOtherURLsThanTheRegularExpression: a pattern that is understood selects what the regular expression finds at the
// beginning of a URL.
func TestAPatternSelectedOtherURLsThanTheRegularExpression(t *testing.T) {
	p := patterns{rand.New(rand.NewPCG(1, 2))}
	understood, selected := 0, 0
	for range 20000 {
		pattern := p.url()
		o, err := parse("BAN /", "X-Url: "+pattern)
		if err != nil {
			continue
		}
		understood++
		re := regexp.MustCompile("^(?:" + pattern + ")")
		for range 20 {
			target := p.target()
			want := re.MatchString(target)
			if got := selects(&o, target); got != want {
				t.Fatalf("%s: %s: got %v, want %v: %+v", pattern, target, got, want, o)
			} else if got {
				selected++
			}
		}
	}
	if understood < 10000 || selected < 10000 {
		t.Errorf("%d patterns were understood, and selected %d URLs: this proves little", understood, selected)
	}
}

// TestATagPatternMissedATag: whatever a pattern of tags between separators finds in a list of tags has one of the tags of the order.
func TestATagPatternMissedATag(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tag := func() string { return fmt.Sprint("t", r.IntN(12)) }
	list := func() (out []string) {
		for range 1 + r.IntN(4) {
			out = append(out, tag())
		}
		return out
	}
	forms := []func(tags []string) string{
		func(tags []string) string { return "(^|,)(" + strings.Join(tags, "|") + ")(,|$)" },
		func(tags []string) string { return "((^|,)" + strings.Join(tags, "(,|$))|((^|,)") + "(,|$))" },
		func(tags []string) string { return `(^|\,)(` + strings.Join(tags, "|") + `)($|\,)` },
	}
	for range 5000 {
		pattern := forms[r.IntN(len(forms))](list())
		o, err := parse("BAN /", "X-Cache-Tags: "+pattern)
		if err != nil {
			t.Fatal(err)
		}
		stored := list()
		want := regexp.MustCompile(pattern).MatchString(strings.Join(stored, ","))
		if got := slices.ContainsFunc(stored, func(s string) bool { return slices.Contains(o.Tags, s) }); got != want {
			t.Fatalf("%s: %q: got %v, want %v: %q", pattern, stored, got, want, o.Tags)
		}
	}
}

// A pattern may cost no more than its length.
func TestALongPatternTookLong(t *testing.T) {
	const most = 8 << 10
	many := strings.Repeat("((^|,)a(,|$))|", most/14)
	if o, err := parse("PURGE /", "X-Magento-Tags-Pattern: "+strings.TrimSuffix(many, "|")); err != nil || len(o.Tags) != 1 {
		t.Errorf("got %q and %v, want one tag", o.Tags, err)
	}
	for _, pattern := range []string{strings.Repeat("(a|b|c|d)", most/9), strings.Repeat("(", most), strings.Repeat("a|", most/2), strings.Repeat("((a|b)|", most/7)} {
		_, _ = parse("BAN /", "X-Url: /"+pattern)
		_, _ = parse("BAN /", "X-Cache-Tags: "+pattern)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("PURGE", "/.*", "X-Purge-Method", "regex")
	f.Add("BAN", "/", "X-Url", `^https?://a\.example/(a|b).*`)
	f.Add("BAN", "/", "X-Cache-Tags", "(^|,)(a|b)(,|$)")
	f.Add("BAN", "/", "X-Ban-Expression", `req.http.host == a.example && req.url ~ "^/a"`)
	f.Add("PURGEKEYS", "/", "xkey-purge", "a b")
	f.Add("PURGE", "https://a.example/a", "Fastly-Soft-Purge", "1")
	f.Add("PURGE", "/", "purge-\xa0", "0")
	f.Fuzz(func(t *testing.T, method, target, name, value string) {
		if target == "" {
			return // no request has none
		}
		o, err := parse(method+" "+target, name+":"+value)
		if err == nil && !o.All && len(o.URLs)+len(o.Prefixes)+len(o.Tags)+len(o.SoftTags) == 0 {
			t.Errorf("%q %q %q %q: nothing is purged, and no error", method, target, name, value)
		}
		if err != nil && (err.Error() == "" || len(err.Error()) > 2000 || !utf8.ValidString(err.Error())) {
			t.Errorf("got the error %q", err)
		}
		for _, u := range append(o.URLs, o.Prefixes...) {
			if u == "" {
				t.Errorf("%q %q %q %q: got an empty URL", method, target, name, value)
			}
		}
	})
}
