package edgetest

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// TestRunnerFindsWhatIsNotAsExpected keeps the scenarios from passing whatever
// the edge does.
func TestRunnerFindsWhatIsNotAsExpected(t *testing.T) {
	const origin = "config\n  admission: {policy: always}\norigin /a\n  Cache-Control: max-age=60\n  ETag: \"1\"\n  body hello\norigin /cut\n  body hello\n  cut 2\n"
	f := func(name, text, want string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				steps, err := parse(origin + text)
				if err == nil {
					err = newWorld(t).run(steps)
				}
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got error %v, want one with %q", err, want)
				}
			})
		})
	}
	f("status", "client GET /a -> 404 fwd=uri-miss; stored", `got "200 fwd=uri-miss; stored"`)
	f("cache status", "client GET /a -> 200 hit; ttl=60", `got "200 fwd=uri-miss; stored"`)
	f("line number", "client GET /a -> 500", "line 10: client GET /a")
	f("body", "client GET /a\n  -> body hallo", `got body "hello"`)
	f("size", "client GET /a\n  -> size 4", "got a body of 5 bytes")
	f("field", "client GET /a\n  -> ETag: 2", `got ETag: "\"1\""`)
	f("field that should not be there", "client GET /a\n  -> no ETag", "want none")
	f("broken body nobody expects", "client GET /cut -> 200 fwd=uri-miss; detail=no-freshness", "the body broke after 2 bytes")
	f("whole body", "client GET /a\n  -> broken", "got a whole body")
	f("time", "client GET /a\n  -> after 1s", "got the answer after 0s")
	f("sum", "together 3 GET /a\n  -> 1 times 200 fwd=uri-miss; stored\n  -> 1 times 200 fwd=uri-miss; stored; collapsed", "more wanted than got")
	f("origin requests", "client GET /a\nexpect origin-requests 2", `got "1", want "2"`)
	f("origin requests of a target", "client GET /a\nexpect origin-requests 2 /a", `got "1", want "2"`)
	f("origin parallel", "client GET /a\nexpect origin-parallel 2", `got "1"`)
	f("origin line", "client GET /a\nexpect origin-line HEAD /a", `got "GET /a"`)
	f("origin host", "client GET /a\nexpect origin-host h", `got "edge.test"`)
	f("origin body", "client GET /a\nexpect origin-body x", `got ""`)
	f("origin field", "client GET /a\nexpect origin-field no Via", "want none")
	f("metric", "client GET /a\nexpect metric 3 edgeproxy_cache_objects tier=memory", "got 1, want 3")
	f("purge", "client GET /a\npurge http://edge.test/a -> 2", "got 1 objects")
	f("left waiting", "start x GET /a", "x was started")
	f("never started", "finish x", "was not started")
	f("verb", "cleint GET /a", "unknown verb")
	f("expectation", "client GET /a\n  -> bodi x", "no expectation of this form")
	f("interim response", "client GET /a\n  -> interim 103 no Link", "got no interim response 103")
	f("interim field", "origin /i\n  bytes HTTP/1.1 103 x\\r\\nX: y\\r\\n\\r\\nHTTP/1.1 204 x\\r\\n\\r\\n\nclient GET /i\n  -> interim 103 no X", `got X: ["y"]`)
	f("interim none", "origin /i\n  bytes HTTP/1.1 103 x\\r\\n\\r\\nHTTP/1.1 204 x\\r\\n\\r\\n\nclient GET /i\n  -> interim none", "got 1 interim responses")
	f("fact", "client GET /a\nexpect origin-lines GET /a", "no fact of this name")
	f("setting", "config\n  admission: {policy: never}", "the edge runs already")
	f("a setting that takes a restart", "client GET /a\nreload\n  admission: {policy: always}\n  cache: {memory: {max_bytes: 8MiB, max_object_bytes: 1MiB}}", "cache.memory.max_bytes takes a restart")
	f("a setting that is as it was", "client GET /a\nreload\n  admission: {policy: always}", "changes nothing that is live")
	f("answer verb", "origin /b\n  boddy x", "unknown")
}

func TestUnknownSettingsFail(t *testing.T) {
	for text, want := range map[string]string{
		"config\n  colour: blue\norigin /a": "unknown key", "config\n  admission: {policy: sometimes}\norigin /a": "must be always",
		"small colour 1": "unknown", "small cache.slice many": "invalid syntax",
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			steps, err := parse(text)
			must(t, err)
			for i := range steps {
				if s := &steps[i]; s.verb == "origin" {
					_, err = (&Edge{dir: w.dir}).load(w.yaml)
				} else {
					err = w.configure(s)
				}
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want one with %q", text, err, want)
			}
		})
	}
}

func TestIndentWithoutStepFails(t *testing.T) {
	if _, err := parse("  client GET /a"); err == nil {
		t.Error("got no error")
	}
}

func TestMissingAnswerIsNotAsExpected(t *testing.T) {
	for _, want := range []string{"200", "body x", "no Age"} {
		if err := (&reply{nothing: io.EOF}).checkAll([]string{want}); err == nil {
			t.Errorf("no answer where %q was wanted: got no error", want)
		}
	}
}
