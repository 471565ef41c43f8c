package admin

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

func TestPurgeForms(t *testing.T) {
	f := func(body string, wantBody, wantPurged string) {
		t.Helper()
		p := &purges{}
		o := options()
		o.Purger = p
		a := serve(t, mustNew(t, o)).do("POST", "/purge", body)
		if a.status != http.StatusOK || a.body != wantBody+"\n" {
			t.Errorf("%s: got %d %s, want 200 %s", body, a.status, a.body, wantBody)
		}
		if got := p.all(); got != wantPurged {
			t.Errorf("%s: purged %q, want %q", body, got, wantPurged)
		}
	}
	f(`{"url": "http://a/?x=1&y=<2>"}`, `{"purged":{"url":["http://a/?x=1&y=<2>"]},"soft":false,"objects":2}`, "url http://a/?x=1&y=<2>")
	f(`{"url": ["http://a/"]}`, `{"purged":{"url":["http://a/"]},"soft":false,"objects":2}`, "url http://a/")
	f(`{"soft" :  false , "url": ["b", "a", "b"]}`+"\n", `{"purged":{"url":["b","a","b"]},"soft":false,"objects":6}`, "url b a b")
	f(`{"url": "http:\/\/\u0061/"}`, `{"purged":{"url":["http://a/"]},"soft":false,"objects":2}`, "url http://a/")
	f(`{"url": "u", "soft": true}`, `{"purged":{"url":["u"]},"soft":true,"objects":null}`, "soft url u")
	f(`{"prefix": "http://a/b/"}`, `{"purged":{"prefix":["http://a/b/"]},"soft":false,"objects":null}`, "prefix http://a/b/")
	f(`{"host": ["a", "b:8080"]}`, `{"purged":{"host":["a","b:8080"]},"soft":false,"objects":null}`, "host a b:8080")
	f(`{"soft": true, "tag": ["x", "y"]}`, `{"purged":{"tag":["x","y"]},"soft":true,"objects":null}`, "soft tag x y")
	f(`{"all": true}`, `{"purged":{"all":true},"soft":false,"objects":null}`, "all")
	f(`{"all": true, "soft": true}`, `{"purged":{"all":true},"soft":true,"objects":null}`, "soft all")
}

func TestPurgeRefusesWhatItDoesNotUnderstand(t *testing.T) {
	f := func(body, wantError string) {
		t.Helper()
		p := &purges{}
		o := options()
		o.Purger = p
		g := serve(t, mustNew(t, o))
		a := g.do("POST", "/purge", body)
		if got := g.errorText(a); a.status != http.StatusBadRequest || !strings.HasPrefix(got, wantError) {
			t.Errorf("%.80q: got %d %q, want 400 %q", body, a.status, got, wantError)
		}
		if got := p.all(); got != "" {
			t.Errorf("%.80q: purged %q, want nothing", body, got)
		}
	}
	const object, form = "must be a JSON object", "must be a string or a list"
	for _, body := range []string{"", " ", "{}", "[]", "null", `"http://a/"`, "url=http://a/", `{"soft": false}`, `{"soft": true}`, "}"} {
		f(body, object)
	}
	for _, v := range []string{`""`, "[]", "null", "7", "{}", "true", `["a", ""]`, `["a", null]`, `["a", 1]`, `[["a"]]`} {
		for _, key := range []string{"url", "prefix", "host", "tag"} {
			f(`{"`+key+`": `+v+`}`, key+": "+form)
		}
	}
	for _, v := range []string{`{"url": "a"`, `{"url": "a",}`, `{"url"}`, `{url: "a"}`, `{"url": "a"} x`, `{"url": "a"}{}`, `{"url": 'a'}`} {
		f(v, "bad JSON: ")
	}
	for _, v := range []string{"false", "null", `"true"`, "1", "[true]"} {
		f(`{"all": `+v+`}`, "all: must be true")
	}
	f(`{"url": "a", "tag": "b"}`, "url: must be one of url, prefix, host, tag and all, not tag beside it")
	f(`{"all": true, "host": "b"}`, "host: must be one of url, prefix, host, tag and all, not all beside it")
	f(`{"url": "a", "soft": "false"}`, "soft: must be true or false")
	f(`{"url": "a", "soft": null}`, "soft: must be true or false")
	f(`{"URL": "a"}`, `"URL": unknown key`)
	f(`{"url": "a", "urls": ["b"]}`, `"urls": unknown key`)
	f(`{"url": "a", "url": "b"}`, `"url": given twice`)
	f(`{"url": "a", "\u0075rl": "b"}`, `"url": given twice`)
	f("{\"url\": \"a\xff\"}", "the body is not valid UTF-8")
	f(`{"`+strings.Repeat("k", 5000)+`": 1}`, `"`+strings.Repeat("k", 200)+`"…: unknown key`)
	f(`{"url": "bad"}`, "no scheme")
}

func TestSameBadRequestGetsTheSameAnswer(t *testing.T) {
	for range 50 {
		_, err := parsePurge([]byte(`{"z": 1, "tag": "x", "b": 2, "soft": 3, "url": ""}`))
		if err == nil || err.Error() != `"b": unknown key` {
			t.Fatalf("got %v, want the first bad key in order of the alphabet", err)
		}
	}
}

func TestPurgesAreLogged(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		var log record
		o := options()
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		serve(t, mustNew(t, o)).do("POST", "/purge", body)
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s: got log %q, want %q in it", body, log.String(), want)
		}
	}
	f(`{"url": ["a", "b"]}`, `msg=purge by=url values=2 soft=false objects=4`)
	f(`{"tag": "a", "soft": true}`, `msg=purge by=tag values=1 soft=true`+"\n")
	f(`{"url": ["a", "bad", "c"]}`, `msg="purge refused" by=url values=3 error="no scheme"`)
}

func TestPurgeBodyIsBounded(t *testing.T) {
	p := &purges{}
	o := options()
	o.Purger = p
	g := serve(t, mustNew(t, o))
	fits := purgeOne + strings.Repeat(" ", maxPurgeBody-len(purgeOne))
	if got := g.do("POST", "/purge", fits).status; got != http.StatusOK {
		t.Errorf("1 MiB: got %d, want 200", got)
	}
	a := g.do("POST", "/purge", fits+" ")
	if a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("1 MiB and a byte: got %d, want 413", a.status)
	}
	if got, want := g.errorText(a), "the body is over 1048576 bytes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := p.all(); got != "url http://a/" {
		t.Errorf("purged %q, want the first only", got)
	}
}

// A purge that is in force but not on the disk was answered like any other. The answer says so now,
// for the operator has to make room on the disk and purge again.
func TestAPurgeThatIsNotKeptSaysSo(t *testing.T) {
	p := &purges{}
	o := options()
	o.Purger = p
	var log record
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	g := serve(t, mustNew(t, o))
	a := g.do("POST", "/purge", `{"tag": "full"}`)
	if got := g.errorText(a); a.status != http.StatusInternalServerError || got != "no space left" {
		t.Errorf("got %d %q, want 500 and the reason", a.status, got)
	}
	if got := p.all(); got != "tag full" {
		t.Errorf("purged %q, want it done", got)
	}
	if want := `level=ERROR msg=purge by=tag values=1 soft=false error="no space left"`; !strings.Contains(log.String(), want) {
		t.Errorf("got log %q, want %q in it", log.String(), want)
	}
}

func TestPurgeNeedsNoContentType(t *testing.T) {
	g := serve(t, mustNew(t, options()))
	for _, typ := range []string{"", "application/json", "text/plain", "application/x-www-form-urlencoded"} {
		if got := g.do("POST", "/purge", purgeOne, "Content-Type", typ).status; got != http.StatusOK {
			t.Errorf("Content-Type %q: got %d, want 200", typ, got)
		}
	}
}

func TestCutPurgeBodyPurgesNothing(t *testing.T) {
	p := &purges{}
	o := options()
	o.Purger = p
	g := serve(t, mustNew(t, o))
	text := "POST /purge HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n14\r\n" + purgeOne + "\r\nbroken\r\n"
	if got := raw(t, g.addr, text); got != http.StatusBadRequest {
		t.Errorf("broken chunk: got %d, want 400", got)
	}
	if got := p.all(); got != "" {
		t.Errorf("purged %q, want nothing", got)
	}
}

func FuzzPurgeBody(f *testing.F) {
	f.Add([]byte(purgeOne))
	f.Add([]byte(`{"url": ["a", "b"], "soft": false}`))
	f.Add([]byte(`{"url": "a", "x": {"url": [1]}} `))
	f.Add([]byte(`{"all": true, "soft": true}`))
	f.Add([]byte(`{"soft": true}`)) // gave half an order with its error
	f.Add([]byte(`{"tag": ["a"], "host": "b"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := parsePurge(body)
		switch {
		case err != nil && (o.by != "" || len(o.values) > 0 || o.soft):
			t.Fatalf("got %+v and %v, want one of the two", o, err)
		case err == nil && (len(o.values) == 0) != (o.by == purgeAll):
			t.Fatalf("got %+v, want values for all but all", o)
		}
		for _, v := range o.values {
			if v == "" {
				t.Fatalf("got an empty value in %+v", o)
			}
		}
	})
}
