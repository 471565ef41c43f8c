package spans

import (
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"edgeproxy/internal/ops/tracecontext"
)

// This file encodes the messages of opentelemetry/proto 1.x that are sent. The numbers are field
// numbers of the schema: trace/v1/trace.proto, common/v1/common.proto, resource/v1/resource.proto
// and collector/trace/v1/trace_service.proto.

// Span flags. Those above 0xff are OTLP's own; sampled is that of traceparent.
const (
	knownRemote = 0x100 // isRemote is valid
	isRemote    = 0x200 // the parent or linked span is another program's
	sampled     = 1
)

// statusError is STATUS_CODE_ERROR.
const statusError = 2

// appendSpan appends s as one entry of ScopeSpans.spans.
func appendSpan(b []byte, s *Span) []byte {
	return appendMessage(b, 2, func(b []byte) []byte {
		b = appendBytes(b, 1, s.Self.Trace[:])
		b = appendBytes(b, 2, s.Self.Span[:])
		flags := uint32(sampled)
		if s.Parent != ([8]byte{}) {
			b = appendBytes(b, 4, s.Parent[:])
			flags |= remoteFlags(s.Remote)
		}
		b = appendText(b, 5, s.Name)
		b = appendNumber(b, 6, uint64(s.Kind))
		b = appendTime(b, 7, s.Start)
		end := s.End
		if end.Before(s.Start) {
			end = s.Start
		}
		b = appendTime(b, 8, end)
		for i := range s.Attributes {
			b = appendAttribute(b, 9, &s.Attributes[i])
		}
		if s.Link != (tracecontext.Context{}) {
			b = appendLink(b, s.Link)
		}
		if s.Failed {
			b = appendMessage(b, 15, func(b []byte) []byte {
				if s.Why != "" {
					b = appendText(b, 2, s.Why)
				}
				return appendNumber(b, 3, statusError)
			})
		}
		return appendFlags(b, 16, flags)
	})
}

func appendLink(b []byte, to tracecontext.Context) []byte {
	return appendMessage(b, 13, func(b []byte) []byte {
		b = appendBytes(b, 1, to.Trace[:])
		b = appendBytes(b, 2, to.Span[:])
		return appendFlags(b, 6, sampled|remoteFlags(false))
	})
}

func remoteFlags(remote bool) uint32 {
	if remote {
		return knownRemote | isRemote
	}
	return knownRemote
}

// appendAttribute appends a as a KeyValue in field n.
func appendAttribute(b []byte, n protowire.Number, a *Attribute) []byte {
	return appendMessage(b, n, func(b []byte) []byte {
		b = appendText(b, 1, a.Key)
		return appendMessage(b, 2, func(b []byte) []byte {
			switch a.as {
			case asNumber:
				return appendNumber(b, 3, uint64(a.number)) //nolint:gosec // an int64 is written as its bits
			case asTruth:
				return appendNumber(b, 2, uint64(a.number)) //nolint:gosec // it is 1
			case asText:
			}
			return appendText(b, 1, a.text)
		})
	})
}

// appendRequest appends an ExportTraceServiceRequest with encoded, which are complete spans, and the
// sender's resource.
func appendRequest(b, encoded []byte, resource []Attribute, version string) []byte {
	return appendMessage(b, 1, func(b []byte) []byte {
		b = appendMessage(b, 1, func(b []byte) []byte {
			for i := range resource {
				b = appendAttribute(b, 1, &resource[i])
			}
			return b
		})
		return appendMessage(b, 2, func(b []byte) []byte {
			b = appendMessage(b, 1, func(b []byte) []byte {
				return appendText(appendText(b, 1, "edgeproxy"), 2, version)
			})
			return append(b, encoded...)
		})
	})
}

// appendMessage appends the bytes of fill as an embedded message in field n. The length comes first but
// is known last. If it takes more than one byte, the message is moved.
func appendMessage(b []byte, n protowire.Number, fill func([]byte) []byte) []byte {
	b = protowire.AppendTag(b, n, protowire.BytesType)
	at := len(b)
	b = fill(append(b, 0))
	size := len(b) - at - 1
	if more := protowire.SizeVarint(uint64(size)) - 1; more > 0 { //nolint:gosec // a length
		b = append(b, make([]byte, more)...)
		copy(b[at+1+more:], b[at+1:])
	}
	protowire.AppendVarint(b[:at], uint64(size)) //nolint:gosec // a length; there is room for it
	return b
}

func appendBytes(b []byte, n protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, n, protowire.BytesType), v)
}

// appendText appends s as valid UTF-8, which the schema requires, cut to MaxText bytes.
func appendText(b []byte, n protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, n, protowire.BytesType), clean(s))
}

// clean returns s as valid UTF-8 of at most MaxText bytes.
func clean(s string) string {
	if len(s) > MaxText {
		s = s[:MaxText]
		for i := 1; i < utf8.UTFMax; i++ { // remove a rune that was cut off
			if at := len(s) - i; utf8.RuneStart(s[at]) {
				if !utf8.FullRuneInString(s[at:]) {
					s = s[:at]
				}
				break
			}
		}
	}
	if utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	for len(s) > MaxText {
		_, last := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-last]
	}
	return s
}

func appendNumber(b []byte, n protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
}

func appendTime(b []byte, n protowire.Number, t time.Time) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, n, protowire.Fixed64Type), uint64(t.UnixNano())) //nolint:gosec // after 1970
}

func appendFlags(b []byte, n protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(b, n, protowire.Fixed32Type), v)
}

// rejected returns how many spans the receiver has rejected, and why, by its
// ExportTraceServiceResponse. An answer that cannot be parsed rejects none.
func rejected(answer []byte) (spans int64, why string) {
	partial, _ := find(answer, 1, protowire.BytesType)
	_, number := find(partial, 1, protowire.VarintType)
	text, _ := find(partial, 2, protowire.BytesType)
	return int64(number), clean(string(text)) //nolint:gosec // refusal.spans ignores numbers below 0
}

// find returns the first field n of a message, if it has this type.
func find(message []byte, n protowire.Number, as protowire.Type) (text []byte, number uint64) {
	for len(message) > 0 {
		got, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0
		}
		message = message[size:]
		if got == n && kind == as {
			if as == protowire.VarintType {
				number, _ = protowire.ConsumeVarint(message)
				return nil, number
			}
			text, size = protowire.ConsumeBytes(message)
			if size < 0 {
				return nil, 0
			}
			return text, 0
		}
		if size = protowire.ConsumeFieldValue(got, kind, message); size < 0 {
			return nil, 0
		}
		message = message[size:]
	}
	return nil, 0
}
