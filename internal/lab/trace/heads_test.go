package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A HEAD counts only where it is asked for, and its bytes are never the object's.
func TestHEADsAreRequestsWhereTheyAreAskedFor(t *testing.T) {
	const log = `1.2.3.4 - - [17/May/2015:10:05:03 +0000] "HEAD /a HTTP/1.1" 200 999 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 10 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "HEAD /a HTTP/1.1" 304 0 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "HEAD /alone HTTP/1.1" 200 0 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /empty HTTP/1.1" 200 0 "-" "-"
1.2.3.4 - - [17/May/2015:10:05:03 +0000] "HEAD /none HTTP/1.1" 404 0 "-" "-"
`
	f := func(heads bool, want Facts, wantHeads []bool) {
		t.Helper()
		tr := read(t, log, Options{Heads: heads})
		if diff := cmp.Diff(want, tr.Facts()); diff != "" {
			t.Errorf("heads %v (-want +got):\n%s", heads, diff)
		}
		var got []bool
		for _, a := range accesses(t, tr) {
			got = append(got, a.Head)
		}
		if diff := cmp.Diff(wantHeads, got); diff != "" {
			t.Errorf("heads %v: which are HEADs (-want +got):\n%s", heads, diff)
		}
	}
	f(false, Facts{Requests: 2, Objects: 2, RequestBytes: 10, UniqueBytes: 10, OneHitObjects: 2, EmptyObjects: 1, Skipped: 4}, []bool{false, false})
	f(true, Facts{
		Requests: 5, Objects: 3, RequestBytes: 10, UniqueBytes: 10, OneHitObjects: 2, EmptyObjects: 1, Heads: 3, HeadObjects: 1, Skipped: 1,
	}, []bool{true, false, true, true, false})

	tr := read(t, log, Options{Heads: true})
	if got := tr.Facts(); got.Storable() != 2 || got.ChargedBytes() != 11 {
		t.Errorf("got %d objects of %d bytes that a cache could hold, want 2 of 11", got.Storable(), got.ChargedBytes())
	}
}

// Our own log says of a HEAD that its method kept it from being stored.
func TestOwnLogTakesHEADsThatPassedForTheirMethod(t *testing.T) {
	tr := read(t, `{"host":"a","target":"/x","method":"HEAD","status":200,"bytes":0,"result":"pass","reason":"method"}
{"host":"a","target":"/x","method":"HEAD","status":200,"bytes":0,"result":"miss","reason":"method"}
{"host":"a","target":"/x","method":"HEAD","status":200,"bytes":0,"result":"hit","reason":""}
{"host":"a","target":"/x","method":"HEAD","status":200,"bytes":0,"result":"pass","reason":"request-body"}
{"host":"a","target":"/x","method":"HEAD","status":502,"bytes":0,"result":"error","reason":"origin-error"}
`, Options{Heads: true})
	if got := tr.Facts(); got.Heads != 3 || got.Skipped != 2 {
		t.Errorf("got %+v, want 3 HEADs used and 2 lines skipped", got)
	}
}
