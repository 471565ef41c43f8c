package main

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/internal/edge"
)

// TestLookupOfARunningProgram asks a running program before and after each request.
func TestLookupOfARunningProgram(t *testing.T) {
	t.Parallel()
	s := serveBinary(t, append([]string{"--origin", taggedOrigin(t)}, anyPorts...)...)
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
