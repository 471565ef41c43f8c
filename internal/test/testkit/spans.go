package testkit

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	collectorpb "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/slim/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Span is one that a SpanReceiver has got. Ids are in hexadecimal digits.
type Span struct {
	Trace, ID, Parent, Name, Kind string
	Links                         []string // the spans, each TRACE-SPAN
	Start, End                    time.Time
	Attributes                    map[string]string
	Failed                        bool
	Why                           string            // the description of the status
	Resource                      map[string]string // attributes of the sender
}

// SpanReceiver is a receiver of OpenTelemetry's protocol by HTTP, which reads it by the generated
// package of the schema. Serve it at any address.
type SpanReceiver struct {
	tb testing.TB

	mu      sync.Mutex
	spans   []Span
	headers []http.Header
	wrong   []string
}

// NewSpanReceiver returns a SpanReceiver. What it gets and cannot read fails the test.
func NewSpanReceiver(tb testing.TB) *SpanReceiver {
	tb.Helper()
	r := &SpanReceiver{tb: tb}
	tb.Cleanup(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, wrong := range r.wrong {
			tb.Error(wrong)
		}
	})
	return r
}

// ServeHTTP implements http.Handler.
func (r *SpanReceiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	spans, decoded := DecodeSpans(body)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil || decoded != nil:
		r.wrong = append(r.wrong, fmt.Sprintf("spans that cannot be read: %v, %v", err, decoded))
	case q.Method != http.MethodPost || q.URL.Path != "/v1/traces" || q.Header.Get("Content-Type") != "application/x-protobuf":
		r.wrong = append(r.wrong, fmt.Sprintf("spans came by %s %s as %q", q.Method, q.URL, q.Header.Get("Content-Type")))
	}
	r.spans, r.headers = append(r.spans, spans...), append(r.headers, q.Header)
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans returns those that have come, in their order.
func (r *SpanReceiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span(nil), r.spans...)
}

// Headers returns those of each request that has come.
func (r *SpanReceiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]http.Header(nil), r.headers...)
}

// Await returns the spans once there are this many or more.
func (r *SpanReceiver) Await(n int) []Span {
	r.tb.Helper()
	if !ComesTrue(func() bool { return len(r.Spans()) >= n }) {
		r.tb.Fatalf("got %d spans, want %d: %+v", len(r.Spans()), n, r.Spans())
	}
	return r.Spans()
}

// DecodeSpans reads the body of a request.
func DecodeSpans(body []byte) (out []Span, err error) {
	var request collectorpb.ExportTraceServiceRequest
	if err := proto.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	if unknown := request.ProtoReflect().GetUnknown(); len(unknown) > 0 {
		return nil, fmt.Errorf("%d bytes that the schema does not know", len(unknown))
	}
	for _, from := range request.GetResourceSpans() {
		for _, scope := range from.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				if unknown := s.ProtoReflect().GetUnknown(); len(unknown) > 0 {
					return nil, fmt.Errorf("%d bytes in a span that the schema does not know", len(unknown))
				}
				one := spanOf(s)
				one.Resource = attributesOf(from.GetResource().GetAttributes())
				out = append(out, one)
			}
		}
	}
	return out, nil
}

func spanOf(s *tracepb.Span) Span {
	out := Span{
		Trace: hex.EncodeToString(s.GetTraceId()), ID: hex.EncodeToString(s.GetSpanId()), Parent: hex.EncodeToString(s.GetParentSpanId()),
		Name: s.GetName(), Kind: s.GetKind().String()[len("SPAN_KIND_"):], Attributes: attributesOf(s.GetAttributes()),
		Start: time.Unix(0, int64(s.GetStartTimeUnixNano())), End: time.Unix(0, int64(s.GetEndTimeUnixNano())),
		Failed: s.GetStatus().GetCode() == tracepb.Status_STATUS_CODE_ERROR, Why: s.GetStatus().GetMessage(),
	}
	for _, l := range s.GetLinks() {
		out.Links = append(out.Links, hex.EncodeToString(l.GetTraceId())+"-"+hex.EncodeToString(l.GetSpanId()))
	}
	return out
}

func attributesOf(list []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			out[a.GetKey()] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			out[a.GetKey()] = strconv.FormatInt(v.IntValue, 10)
		case *commonpb.AnyValue_BoolValue:
			out[a.GetKey()] = strconv.FormatBool(v.BoolValue)
		default:
			out[a.GetKey()] = fmt.Sprintf("%T", v)
		}
	}
	return out
}
