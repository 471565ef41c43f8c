package fieldrules

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/template"
)

// asker is a client for tests.
type asker struct{}

func (asker) ClientAddress() netip.Addr { return netip.MustParseAddr("192.0.2.1") }
func (asker) RequestID() []byte         { return []byte("an-id") }

var about = template.URL{Scheme: "https", Host: []byte("edge.test"), Target: []byte("/a?b")}

// must returns the rules that one of the constructors has made.
func must(t *testing.T) func(Rules, error) *Rules {
	t.Helper()
	return func(r Rules, err error) *Rules {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return &r
	}
}

func linesOf(l field.List) string { return string(field.AppendLines(nil, l)) }

func TestFieldsOfAMessage(t *testing.T) {
	r := must(t)(ForRequests([]string{"X-Debug*"}, nil, map[string]string{
		"x-edge": "1", "X-Url": "{uri}", "X-Who": "{client} {request_id}", "X-Query": "{query}", "X-Brace": "{{}}",
	}))
	from := field.List{{Name: "Accept", Value: "*/*"}, {Name: "X-Edge", Value: "theirs"}, {Name: "X-Debug-All", Value: "1"}}
	got := linesOf(r.AppendSet(from.Without(r.Drops), about, asker{}))
	want := "Accept: */*\r\nX-Brace: {}\r\nX-Edge: 1\r\nX-Query: b\r\nX-Url: /a?b\r\nX-Who: 192.0.2.1 an-id\r\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAValueThatIsEmptyIsNoField(t *testing.T) {
	r := must(t)(ForResponses(nil, map[string]string{"X-Query": "{query}"}))
	if got := r.AppendSet(nil, template.URL{Target: []byte("/")}, nil); len(got) != 0 {
		t.Errorf("got %q, want no field", linesOf(got))
	}
	var lines Lines
	lines.Add(r, func(string) bool { return true })
	if got := lines.Append(nil, template.URL{Target: []byte("/?")}, nil); len(got) != 0 {
		t.Errorf("got %q, want no line", got)
	}
}

// A redirected fetch asks for another target: the fields about the first must go.
func TestFieldsAreMadeAnewForAnotherTarget(t *testing.T) {
	r := must(t)(ForRequests(nil, nil, map[string]string{"X-Url": "{uri}", "X-Edge": "1"}))
	list := r.AppendSet(nil, about, asker{})
	other := about
	other.Target = []byte("/other")
	if got, want := linesOf(r.MakeAnew(list, other, asker{})), "X-Edge: 1\r\nX-Url: /other\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if plain := must(t)(ForRequests(nil, nil, map[string]string{"X-Edge": "1"})); plain.HasPlaceholders() || !r.HasPlaceholders() {
		t.Error("want placeholders in the rules with {uri} alone")
	}
}

func TestWhatIsRefused(t *testing.T) {
	f := func(name string, r Rules, err error, want ...string) {
		t.Helper()
		if len(want) == 0 {
			if err != nil {
				t.Errorf("%s: got %v", name, err)
			}
			return
		}
		var problem *field.RuleError
		if !errors.As(err, &problem) || r.Rules != nil {
			t.Errorf("%s: got %v %v, want an error and no rules", name, r, err)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: got %v, want %q in it", name, err, w)
			}
		}
	}
	set := func(name, value string) map[string]string { return map[string]string{name: value} }
	request := func(name, value string) (Rules, error) {
		return ForRequests(nil, nil, set(name, value))
	}
	for _, name := range []string{"Host", "connection", "Transfer-Encoding", "a b", "X*"} {
		r, err := request(name, "x")
		f(name, r, err, `"`+name+`"`)
	}
	for _, value := range []string{"", " ", "a\r\nb: c", "a\x00", "{", "{result}", strings.Repeat("x", 5000)} {
		r, err := request("X-A", value)
		f(value, r, err, `"X-A"`)
	}
	r, err := request("X-A", "{client}")
	f("a client in a request", r, err)
	r, err = ForResponses(nil, set("X-A", "{client}"))
	f("a client in what is stored", r, err, "before a response is stored")
	for _, name := range []string{"Age", "date", "Content-Length", "Cache-Status", "Via", "Content_Encoding"} {
		r, err = ForResponses(nil, set(name, "1"))
		f(name, r, err, `"`+name+`"`)
		r, err = ForAnswers(set(name, "1"))
		f(name, r, err, `"`+name+`"`)
		r, err = ForGenerated(set(name, "1"))
		f(name, r, err, `"`+name+`"`)
	}
	for _, name := range []string{"Location", "etag", "Surrogate-Key", "Content-Type", "Retry_After"} {
		r, err = ForAnswers(set(name, "1"))
		f(name, r, err)
		r, err = ForGenerated(map[string]string{name: "1", "Age": "1", "X-A": "{"})
		f(name, r, err, `"`+name+`"`, `"Age"`, `"X-A"`) // all that is wrong
	}
}

// A name with which an origin may confuse a field is refused where the field is written by the proxy; a condition of another name is the client's.
func TestRulesSelectByWhatReachesTheOrigin(t *testing.T) {
	for name, want := range map[string]bool{
		"Accept": true, "Cookie": true, "X-Lang": true, "Authorization": true, "If_match": true,
		"Host": false, "Via": false, "X_forwarded_for": false, "Forwarded": false, "Cdn-Loop": false, "Connection": false, "Te": false,
		"Range": false, "If-Range": false, "If-None-Match": false, "If-Match": false, "If-Unmodified-Since": false,
	} {
		if got := Keyable(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		if r, err := ForRequests([]string{name}, nil, nil); (err == nil) != (want && name != "If_match") {
			t.Errorf("a rule for %s: got %v %v", name, r, err)
		}
	}
}

func TestWhatNothingIsSelectedBy(t *testing.T) {
	r := must(t)(ForRequests(nil, nil, map[string]string{"X-Who": "{client}", "X-Id": "{request_id}", "X-Url": "{uri}", "X-Edge": "1"}))
	for name, want := range map[string]bool{"X-Who": true, "X-Id": true, "X-Url": false, "X-Edge": false, "Accept": false} {
		if got := r.Unselectable(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if !r.HasRequestID() || must(t)(ForGenerated(map[string]string{"X-A": "{client}"})).HasRequestID() {
		t.Error("want the rules with {request_id} alone to identify requests")
	}
	none := &Rules{}
	if none.HasRequestID() || none.HasPlaceholders() || none.Unselectable("X-A") || none.Drops("X-A") || len(none.AppendSet(nil, about, nil)) > 0 {
		t.Error("want the zero Rules to be none")
	}
}

func TestLinesOfOwnAnswers(t *testing.T) {
	r := must(t)(ForGenerated(map[string]string{"X-A": "1", "Cache-Control": "max-age=60", "CDN-Cache-Control": "{query}", "Expires": "0", "X-Who": "{client}"}))
	var all Lines
	all.Add(r, func(name string) bool { return name != "Expires" })
	all.AddLine("X-Last", "2")
	if got, want := string(all.Append([]byte("A: b\r\n"), about, asker{})), "A: b\r\nCdn-Cache-Control: b\r\nX-Who: 192.0.2.1\r\nCache-Control: max-age=60\r\nX-A: 1\r\nX-Last: 2\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !all.SetsLifetime() || !all.OfClient() || all.HasRequestID() {
		t.Errorf("got a lifetime %v, of the client %v, with an id %v; want true, true, false", all.SetsLifetime(), all.OfClient(), all.HasRequestID())
	}
	texts := OfTexts(r)
	if got, want := string(texts.Append(nil, about, asker{})), "X-Who: 192.0.2.1\r\nX-A: 1\r\n"; got != want || texts.SetsLifetime() {
		t.Errorf("texts: got %q, a lifetime %v; want %q", got, texts.SetsLifetime(), want)
	}
}

func TestLinesAreWrittenWithoutAnAllocation(t *testing.T) {
	r := must(t)(ForGenerated(map[string]string{"X-A": "1", "X-Url": "{uri} {client}"}))
	lines, room := OfTexts(r), make([]byte, 0, 200)
	var who template.Client = asker{}
	if n := testing.AllocsPerRun(100, func() { room = lines.Append(room[:0], about, who) }); n > 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
