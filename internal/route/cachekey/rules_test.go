package cachekey_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"edgeproxy/internal/route/cachekey"
)

func TestNewSaysAllThatIsWrong(t *testing.T) {
	f := func(o cachekey.Options, want ...string) {
		t.Helper()
		_, err := cachekey.New(o)
		var got []string
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				var wrong *cachekey.RuleError
				if !errors.As(e, &wrong) {
					t.Fatalf("got %v, want a RuleError", e)
				}
				got = append(got, strings.TrimSuffix(wrong.Rule+" "+wrong.Value, " "))
				if !strings.HasPrefix(wrong.Error(), wrong.Rule+": ") || !strings.Contains(wrong.Error(), "must be "+wrong.Want) {
					t.Errorf("got text %q, want rule and wish in it", wrong.Error())
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: got %q, want %q", o, got, want)
		}
	}
	long, many := strings.Repeat("a", 129), make([]string, 65)

	f(cachekey.Options{})
	f(cachekey.Options{IgnoreQuery: []string{"a", "*", "utm_*", "ä b&=", long[1:]}, SortQuery: true})
	f(cachekey.Options{Headers: []string{"x_y", "ACCEPT"}, Cookies: []string{"__Host-id"}})
	f(cachekey.Options{IgnoreQuery: []string{"", "*a", "**", long}}, "ignore_query", "ignore_query *a", "ignore_query **", "ignore_query "+long)
	f(cachekey.Options{OnlyQuery: many}, "only_query")
	f(cachekey.Options{IgnoreQuery: []string{"a"}, OnlyQuery: []string{"b"}}, "only_query")
	f(cachekey.Options{Headers: []string{"", "a b", "host", "COOKIE", "x:", "X-*"}}, "headers", "headers a b", "headers host", "headers COOKIE", "headers x:", "headers X-*")
	f(cachekey.Options{Cookies: []string{"", "a=b", "a b", "$Version", "a;", `"a"`, "ab_*"}},
		"cookies", "cookies a=b", "cookies a b", "cookies $Version", "cookies a;", `cookies "a"`, "cookies ab_*")
	f(cachekey.Options{IgnoreQuery: []string{"*a"}, Headers: []string{":"}, Cookies: []string{"="}}, "ignore_query *a", "headers :", "cookies =")
}

// The options are the caller's: rules must not change with them.
func TestRulesKeepNothingOfTheOptions(t *testing.T) {
	o := cachekey.Options{IgnoreQuery: []string{"a"}, Headers: []string{"X-B", "X-A"}, Cookies: []string{"d", "c"}}
	r := rules(t, o)
	if o.Headers[0] != "X-B" || o.Cookies[0] != "d" {
		t.Errorf("got %v %v, want them in the order given", o.Headers, o.Cookies)
	}
	in := request{"X-A": {"1"}, "Cookie": {"d=1"}}
	before := string(r.AppendSelectors(nil, in.lines))
	o.IgnoreQuery[0], o.Headers[0], o.Headers[1], o.Cookies[0], o.Cookies[1] = "z", "Z", "Z", "z", "z"
	if got := string(r.AppendSelectors(nil, in.lines)); got != before {
		t.Errorf("got %q, want %q as before", got, before)
	}
	if got := string(r.AppendTarget(nil, []byte("/?a&z"))); got != "/?z" {
		t.Errorf("got %s, want /?z", got)
	}
}
