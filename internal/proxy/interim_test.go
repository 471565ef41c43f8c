package proxy

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"edgeproxy/internal/cache/purge"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/message"
	"edgeproxy/internal/origin"
)

func TestInterimResponseIsForwardedWithoutWhatEndsHere(t *testing.T) {
	f := func(header field.List, want ...field.Field) {
		t.Helper()
		var got field.List
		p := &Proxy{identity: identity{via: "1.1 edge"}}
		p.interimSender(&exchange{routed: routed{route: tagRoute(), incoming: incoming{req: &message.Request{Interim: func(_ int, fields field.List) { got = fields }}}}})(103, header)
		if diff := cmp.Diff(append(want, field.Field{Name: "Via", Value: "1.1 edge"}), []field.Field(got)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", header, diff)
		}
	}
	f(nil)
	all := field.List{{Name: "Link", Value: "</a>"}, {Name: "X-A", Value: ""}, {Name: "Link", Value: "</b>"}}
	f(all, all...)
	dropped := field.List{
		{Name: "Connection", Value: "close, x-a"},
		{Name: "X-A", Value: "1"},
		{Name: "Keep-Alive", Value: "timeout=5"},
		{Name: "Upgrade", Value: "h2c"},
		{Name: "Surrogate-Key", Value: "k"},
		{Name: "Cache-Tag", Value: "t"},
	}
	f(append(dropped, field.Field{Name: "Via", Value: "1.1 origin"}), field.Field{Name: "Via", Value: "1.1 origin"})
}

// tagRoute is a route whose tags are in two fields.
func tagRoute() *route {
	return &route{Route: &Route{}, tags: purge.NewTagFields("Surrogate-Key", "Cache-Tag")}
}

// TestInterimResponsesComeThroughAFlightInOrder, all of them before relay returns.
func TestInterimResponsesComeThroughAFlightInOrder(t *testing.T) {
	var got, want []int
	r := &origin.Request{}
	t1 := func(status int, header field.List) {
		if len(header) != 1 || header[0].Value != fmt.Sprint(status) {
			t.Errorf("got %d with header %v", status, header)
		}
		got = append(got, status)
	}
	c := handOver(r, t1)
	go func() {
		defer c.end()
		for status := 102; status < 102+origin.MaxInterim; status++ {
			r.Interim(status, field.List{{Name: "X", Value: fmt.Sprint(status)}})
		}
	}()
	c.relay(t1, open, nil)
	for status := 102; status < 102+origin.MaxInterim; status++ {
		want = append(want, status)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// open says that nobody has a header yet.
func open() <-chan struct{} { return make(chan struct{}) }

// TestFetchNeverWaitsForAClient: a leader that takes nothing misses what finds no
// room.
func TestFetchNeverWaitsForAClient(t *testing.T) {
	told := 0
	count := func(int, field.List) { told++ }
	r := &origin.Request{}
	c := handOver(r, count)
	for range 3 * origin.MaxInterim {
		r.Interim(102, nil)
	}
	c.end()
	c.relay(count, open, nil)
	if told != origin.MaxInterim {
		t.Errorf("told %d, want %d", told, origin.MaxInterim)
	}
}

func TestNoInterimResponsesWithoutAClient(t *testing.T) {
	r := &origin.Request{}
	c := handOver(r, nil)
	if r.Interim != nil {
		t.Error("got interim responses asked for, want them dropped by the origin room")
	}
	c.end()
	c.relay(nil, open, nil) // would wait for ever
}
