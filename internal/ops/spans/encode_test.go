package spans

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"edgeproxy/internal/ops/tracecontext"
	"edgeproxy/internal/test/testkit"
)

func contextOf(trace, span byte) tracecontext.Context {
	return tracecontext.Context{Trace: [16]byte{15: trace}, Span: [8]byte{7: span}, Sampled: true}
}

// What is written is read by the package that OpenTelemetry makes of its schema.
func TestSpanIsWhatTheSchemaSays(t *testing.T) {
	at := time.Unix(1_700_000_000, 123).UTC()
	s := Span{
		Self: contextOf(1, 2), Parent: [8]byte{7: 3}, Remote: true, Kind: Server, Name: "GET", Start: at, End: at.Add(time.Second),
		Attributes: []Attribute{Text("t", "text"), Text("none", ""), Number("n", math.MinInt64), Number("big", math.MaxInt64), True("b")},
		Link:       contextOf(4, 5), Failed: true, Why: "the origin\xff closed it",
	}
	body := appendRequest(nil, appendSpan(nil, &s), []Attribute{Text("service.name", "edge")}, "1.2")
	got, err := testkit.DecodeSpans(body)
	if err != nil {
		t.Fatal(err)
	}
	want := []testkit.Span{{
		Trace: strings.Repeat("0", 31) + "1", ID: "0000000000000002", Parent: "0000000000000003", Name: "GET", Kind: "SERVER",
		Links: []string{strings.Repeat("0", 31) + "4-0000000000000005"}, Start: at, End: at.Add(time.Second), Failed: true, Why: "the origin\uFFFD closed it",
		Attributes: map[string]string{"t": "text", "none": "", "n": "-9223372036854775808", "big": "9223372036854775807", "b": "true"},
		Resource:   map[string]string{"service.name": "edge"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	var request collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	scope := request.GetResourceSpans()[0].GetScopeSpans()[0]
	if got := scope.GetScope(); got.GetName() != "edgeproxy" || got.GetVersion() != "1.2" {
		t.Errorf("scope: got %v", got)
	}
	sampledRemote := uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK|tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK) | 1
	if got := scope.GetSpans()[0]; got.GetFlags() != sampledRemote || got.GetLinks()[0].GetFlags() != sampledRemote&^0x200 {
		t.Errorf("flags: got %x and %x", got.GetFlags(), got.GetLinks()[0].GetFlags())
	}
}

// Lengths of more than one byte are moved into their place; one that is wrong makes the rest unreadable.
func TestSpansOfEveryLengthAreRead(t *testing.T) {
	var encoded []byte
	const most = 300
	for n := range most {
		encoded = appendSpan(encoded, &Span{Self: contextOf(1, 2), Kind: Internal, Attributes: []Attribute{Text("a", strings.Repeat("x", n)), Text("b", strings.Repeat("y", 3*n))}})
	}
	got, err := testkit.DecodeSpans(appendRequest(nil, encoded, nil, ""))
	if err != nil || len(got) != most {
		t.Fatalf("got %d spans, %v", len(got), err)
	}
	for n, s := range got {
		if len(s.Attributes["a"]) != n || len(s.Attributes["b"]) != min(3*n, MaxText) || s.Parent != "" || s.Failed {
			t.Errorf("%d: got %d and %d bytes, parent %q", n, len(s.Attributes["a"]), len(s.Attributes["b"]), s.Parent)
		}
	}
}

// A span whose End lies before its Start, since the clock was set, ends where it begins.
func TestSpanNeverEndsBeforeItBegins(t *testing.T) {
	at := time.Unix(1000, 0).UTC()
	got, err := testkit.DecodeSpans(appendRequest(nil, appendSpan(nil, &Span{Start: at, End: at.Add(-time.Second)}), nil, ""))
	if err != nil || !got[0].End.Equal(at) {
		t.Errorf("got %v, %v", got, err)
	}
}

func FuzzTextIsUTF8OfALength(f *testing.F) {
	for _, seed := range []string{"", "plain", "\xff", strings.Repeat("\xff", MaxText), strings.Repeat("x", MaxText-1) + "ü", strings.Repeat("x", MaxText-2) + "\xe2\x82\xac", strings.Repeat("€", MaxText)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := clean(s)
		if len(got) > MaxText || !utf8.ValidString(got) {
			t.Errorf("%q: got %d bytes, UTF-8 %v", s, len(got), utf8.ValidString(got))
		}
		if utf8.ValidString(s) && (!strings.HasPrefix(s, got) || len(s) > len(got) && len(got) <= MaxText-utf8.UTFMax) {
			t.Errorf("%q: got %q, want as much of it as fits", s, got)
		}
	})
}

func TestRefusalsOfAReceiver(t *testing.T) {
	f := func(answer []byte, spans int64, why string) {
		t.Helper()
		if n, text := rejected(answer); n != spans || text != why {
			t.Errorf("%q: got %d, %q, want %d, %q", answer, n, text, spans, why)
		}
	}
	whole, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{RejectedSpans: 300, ErrorMessage: "too old"}})
	if err != nil {
		t.Fatal(err)
	}
	f(whole, 300, "too old")
	f(nil, 0, "")
	f([]byte("<html>"), 0, "")
	f(whole[:len(whole)-1], 0, "")
	for n := range whole { // none panics
		rejected(whole[:n])
		rejected(append([]byte{0xff}, whole[n:]...))
	}
}
