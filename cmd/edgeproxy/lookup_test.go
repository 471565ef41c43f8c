package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"edgeproxy/internal/edge"
)

// TestLookupOfARunningProgram asks a running program before and after each request.
func TestLookupOfARunningProgram(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, withoutStage(t, taggedOrigin(t))...)
	about := "http://" + s.address + "/x/a"
	f := func(result, why string, sightings int, tier string) {
		t.Helper()
		_, text := get(t, "http://"+s.admin+"/lookup?url="+url.QueryEscape(about))
		var a edge.Lookup
		if err := json.Unmarshal([]byte(text), &a); err != nil || a.Key == nil || a.Sightings == nil {
			t.Fatalf("got %q, %v", text, err)
		}
		got := ""
		if a.Stored != nil {
			got = a.Stored.Tier
			if names := a.Stored.TagNames; len(names) != 1 || names[0] != "tag-a" {
				t.Errorf("got the tags %q, want tag-a: a look-up said only how many there are", names)
			}
			if a.Stored.Purged != "no" || a.Stored.Tags != 1 || a.Stored.Status != 200 || a.Stored.TTL <= 0 || a.Stored.Bytes != 6 {
				t.Errorf("got %+v of what is stored", a.Stored)
			}
		}
		if a.Key.URL != about || a.Next.Result != result || a.Next.Reason != why || a.Sightings.Within != sightings || got != tier {
			t.Errorf("got %s, want %s %s, %d sightings, tier %q", text, result, why, sightings, tier)
		}
	}
	f("miss", "first-sighting", 0, "")
	f("miss", "first-sighting", 0, "")
	get(t, about)
	f("miss", "", 1, "")
	get(t, about)
	f("hit", "", 1, "memory")
}

// A look-up in a terminal needed curl and an eye for JSON.
func TestTheCommandLookupSaysWhatIsStoredInWords(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, withoutStage(t, taggedOrigin(t))...)
	about := "http://" + s.address + "/x/a"
	f := func(code int, want ...string) {
		t.Helper()
		got := runBinary(t, "lookup", "--admin", "http://"+s.admin, about)
		for _, w := range want {
			if got.code != code || got.stderr != "" || !strings.Contains(got.stdout, w) {
				t.Errorf("got %d, %q and\n%s\nwant %d and %q", got.code, got.stderr, got.stdout, code, w)
			}
		}
	}
	const miss = "\nnext       miss: Nothing is stored. The next response would be held back: first-sighting.\n"
	f(exitFailed, "GET "+about+"\n", miss, "\nroute      default\n", "\npolicy     second-hit\n", "\norigin     ", "\nsightings  none within the window\n", "\nstored     no\n")
	f(exitFailed, miss) // it was no sighting
	get(t, about)
	f(exitFailed, "\nnext       miss: Nothing is stored. The next response would be stored, if it may be.\n", "\nsightings  one or more within the window\n")
	get(t, about)
	f(exitDone, "\nnext       hit: It is answered from the cache.\n", "\nstored     in the tier memory, status 200, 6 B, age ", ", tags: 1 (tag-a)\n")

	got := runBinary(t, "lookup", "--admin", s.admin, "--json", about)
	var a edge.Lookup
	if err := json.Unmarshal([]byte(got.stdout), &a); err != nil || got.code != exitDone || a.Stored == nil || a.Origin == "" {
		t.Errorf("got %d, %q, %v, want the document", got.code, got.stdout, err)
	}
	for want, args := range map[string][]string{
		"lookup needs one URL, such as http://example.com/path?query":             {},
		"lookup: must be an absolute URL such as http://example.com/path?query":   {"/x/a"},
		"lookup: header: must be NAME: VALUE, such as Accept-Language: de":        {about, "-H", "de"},
		"lookup: --admin http://a/b: must have no path behind the host: http://a": {about, "--admin", "http://a/b"},
		"unknown flag: --heder, did you mean --header?":                           {about, "--heder", "a: b"},
		"lookup: must be a method such as GET or HEAD":                            {about, "--method", "G ET"},
	} {
		got := runBinary(t, append([]string{"lookup", "--admin", s.admin}, args...)...)
		if got.code != exitUsage || !strings.HasPrefix(got.stderr, "edgeproxy: "+want+"\n") || got.stdout != "" {
			t.Errorf("%q: got %d %q %q, want %d and %q", args, got.code, got.stdout, got.stderr, exitUsage, want)
		}
	}
}

func TestLookupScreenOfVariants(t *testing.T) {
	t.Parallel()
	de := edge.LookupStored{Tier: "memory", Status: 200, Bytes: 2048, Age: 63, TTL: -5, Tags: 2, Purged: "soft"}
	a := edge.Lookup{
		Method: "GET", URL: "http://h/a\u202e", Route: "r", Policy: "counting", Origin: "app",
		Key:       &edge.LookupKey{URL: "http://h/a", Vary: []string{"Accept-Language"}, Variant: "Accept-Language: de"},
		Sightings: &edge.LookupSightings{Within: 3, Exact: true},
		Stored:    &de,
		Variants: []edge.LookupVariant{
			{Variant: "Accept-Language: de", LookupStored: de},
			{Variant: "Accept-Language: fr", LookupStored: edge.LookupStored{Tier: "disk", Status: 404, TTL: 3700, Purged: "yes"}},
		},
		Next: edge.LookupNext{Result: "validate", Text: "It is stale."},
	}
	want := `GET http://h/a\u202e
next       validate: It is stale.
route      r
policy     counting
origin     app
key        http://h/a
varies by  Accept-Language
variant    Accept-Language: de
sightings  3 within the window
stored     in the tier memory, status 200, 2.0 KiB, age 1m3s, stale for 5s, tags: 2, purged softly: it is validated before it is used

stored variants
Accept-Language: de  in the tier memory, status 200, 2.0 KiB, age 1m3s, stale for 5s, tags: 2, purged softly: it is validated before it is used
Accept-Language: fr  in the tier disk, status 404, 0 B, age 0s, fresh for 1h1m, purged, and not removed yet
`
	if got := lookupScreen(&a); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A route that answers itself asks neither cache nor origin.
func TestLookupOfARouteThatAnswersItself(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "edge.yaml")
	text := "origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nlisten: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\nroutes: [{name: own, respond: {status: 200, body: hello}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveBinary(t, "-c", file)
	_, text = get(t, "http://"+s.admin+"/lookup?url=http://example.com/")
	var a edge.Lookup
	if err := json.Unmarshal([]byte(text), &a); err != nil || a.Next.Result != "answered" || a.Route != "own" || a.Key != nil {
		t.Errorf("got %s, %v, want a route that answers itself", text, err)
	}
}
