package accesslog

import (
	"strconv"
	"time"
)

// noOrigin is the end of a JSON line without an origin server.
const noOrigin = `,"origin":"","origin_connect":0,"origin_first_byte":0,"origin_total":0}`

// appendLine appends l as one JSON object. Every line has every key, in the order of fields.
func (l *Line) appendLine(b []byte, c *clock) []byte {
	b = append(b, `{"time":"`...)
	b = c.appendTime(b, l.Time)
	b = appendJSON(append(b, `","host":`...), l.Host)
	b = appendJSON(append(b, `,"target":`...), l.Target)
	b = appendJSON(append(b, `,"method":`...), l.Method)
	b = appendInt(append(b, `,"status":`...), int64(l.Status))
	b = appendInt(append(b, `,"bytes":`...), l.Bytes)
	b = appendWord(append(b, `,"result":`...), l.Result)
	b = appendWord(append(b, `,"reason":`...), l.Reason)
	b = appendWord(append(b, `,"route":`...), l.Route)
	b = append(b, `,"duration":`...)
	from := len(b)
	b = appendSeconds(b, l.Duration)
	to := len(b)
	if b = append(b, `,"first_byte":`...); l.FirstByte == l.Duration { // usual for a hit in memory
		b = append(b, b[from:to]...)
	} else {
		b = appendSeconds(b, l.FirstByte)
	}
	b = appendAddr(append(b, `,"client":"`...), l.Client.WithZone(""))
	if zone := l.Client.Zone(); zone != "" {
		b = append(b, '%')
		b = append(b, appendJSON(nil, []byte(zone))[1:]...) // rare: a link-local address
	} else {
		b = append(b, '"')
	}
	b = appendWord(append(b, `,"scheme":`...), l.Scheme)
	b = appendWord(append(b, `,"protocol":`...), l.Protocol)
	b = appendInt(append(b, `,"sightings":`...), int64(l.Sightings))
	b = appendInt(append(b, `,"ttl":`...), int64(l.TTL/time.Second))
	b = appendJSON(append(b, `,"user_agent":`...), l.UserAgent)
	b = appendJSON(append(b, `,"referer":`...), l.Referer)
	b = appendJSON(append(b, `,"request_id":`...), l.RequestID)
	b = appendJSON(append(b, `,"trace_id":`...), l.TraceID)
	b = appendJSON(append(b, `,"user":`...), l.User)
	if l.Origin == "" && l.OriginConnect == 0 && l.OriginFirstByte == 0 && l.OriginTotal == 0 {
		return append(b, noOrigin...)
	}
	b = appendWord(append(b, `,"origin":`...), l.Origin)
	b = appendSeconds(append(b, `,"origin_connect":`...), l.OriginConnect)
	b = appendSeconds(append(b, `,"origin_first_byte":`...), l.OriginFirstByte)
	b = appendSeconds(append(b, `,"origin_total":`...), l.OriginTotal)
	return append(b, '}')
}

// appendCombined appends l in the combined format of Apache and nginx, in UTC.
func (l *Line) appendCombined(b []byte, c *clock) []byte {
	b = l.appendClient(b)
	b = appendColumn(append(b, " - "...), l.User)
	b = c.appendCombined(append(b, " ["...), l.Time)
	b = l.appendRequestLine(append(b, `] "`...))
	b = appendInt(append(b, `" `...), int64(l.Status))
	b = appendInt(append(b, ' '), l.Bytes)
	b = appendText(append(b, ` "`...), l.Referer)
	b = appendText(append(b, `" "`...), l.UserAgent)
	return append(b, '"')
}

// appendRequestLine appends the request line. Without a protocol no whole one came: it is what did come, as in nginx,
// and a hyphen if that is nothing.
func (l *Line) appendRequestLine(b []byte) []byte {
	switch {
	case l.Protocol == "" && len(l.Method) == 0:
		return appendText(b, l.Target)
	case l.Protocol == "" && len(l.Target) == 0:
		return appendText(b, l.Method)
	}
	b = appendText(b, l.Method)
	b = appendText(append(b, ' '), l.Target)
	if l.Protocol == "" {
		return b
	}
	return append(append(b, ' '), l.Protocol...)
}

// appendValue appends one field as text. An empty value is a hyphen.
//
//nolint:cyclop // one case for each field
func (l *Line) appendValue(b []byte, c *clock, f id) []byte {
	switch f {
	case fieldTime:
		return c.appendTime(b, l.Time)
	case fieldHost:
		return appendText(b, l.Host)
	case fieldTarget:
		return appendText(b, l.Target)
	case fieldMethod:
		return appendText(b, l.Method)
	case fieldStatus:
		return appendInt(b, int64(l.Status))
	case fieldBytes:
		return appendInt(b, l.Bytes)
	case fieldResult:
		return appendWordText(b, l.Result)
	case fieldReason:
		return appendWordText(b, l.Reason)
	case fieldRoute:
		return appendWordText(b, l.Route)
	case fieldDuration:
		return appendSeconds(b, l.Duration)
	case fieldFirstByte:
		return appendSeconds(b, l.FirstByte)
	case fieldClient:
		return l.appendClient(b)
	default:
		return l.appendFurther(b, f)
	}
}

// appendFurther is appendValue for the fields after client.
//
//nolint:cyclop // one case for each field
func (l *Line) appendFurther(b []byte, f id) []byte {
	switch f {
	case fieldScheme:
		return appendWordText(b, l.Scheme)
	case fieldProtocol:
		return appendWordText(b, l.Protocol)
	case fieldSightings:
		return appendInt(b, int64(l.Sightings))
	case fieldTTL:
		return appendInt(b, int64(l.TTL/time.Second))
	case fieldUserAgent:
		return appendText(b, l.UserAgent)
	case fieldReferer:
		return appendText(b, l.Referer)
	case fieldRequestID:
		return appendText(b, l.RequestID)
	case fieldTraceID:
		return appendText(b, l.TraceID)
	case fieldUser:
		return appendText(b, l.User)
	case fieldOrigin:
		return appendWordText(b, l.Origin)
	case fieldOriginConnect:
		return appendSeconds(b, l.OriginConnect)
	case fieldOriginFirstByte:
		return appendSeconds(b, l.OriginFirstByte)
	default:
		return appendSeconds(b, l.OriginTotal)
	}
}

// appendClient appends the client's address as text.
func (l *Line) appendClient(b []byte) []byte {
	if !l.Client.IsValid() {
		return append(b, '-')
	}
	b = appendAddr(b, l.Client.WithZone(""))
	if zone := l.Client.Zone(); zone != "" {
		b = appendText(append(b, '%'), []byte(zone))
	}
	return b
}

// appendInt appends a number. It is fast for one digit, the most common length, and for three, as in a status.
func appendInt(b []byte, n int64) []byte {
	switch {
	case 0 <= n && n < 10:
		return append(b, byte('0'+n))
	case 100 <= n && n < 1000:
		return append(b, byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
	}
	return strconv.AppendInt(b, n, 10)
}

// appendSix appends n with six digits.
func appendSix(b []byte, n uint32) []byte {
	high, low := n/1000, n%1000
	return append(b, byte('0'+high/100), byte('0'+high/10%10), byte('0'+high%10), byte('0'+low/100), byte('0'+low/10%10), byte('0'+low%10))
}

// appendSeconds appends d in seconds, rounded to microseconds, without an exponent and without
// trailing zeros.
func appendSeconds(b []byte, d time.Duration) []byte {
	if d < 0 {
		if d > -time.Microsecond/2 {
			return append(b, '0')
		}
		b = append(b, '-')
	}
	micros := roundedMicros(d)
	whole, rest := micros/1e6, uint32(micros%1e6)
	if whole < 10 {
		b = append(b, byte('0'+whole))
	} else {
		b = strconv.AppendUint(b, whole, 10)
	}
	if rest == 0 {
		return b
	}
	b = appendSix(append(b, '.'), rest)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// roundedMicros returns the absolute value of d in microseconds, half a microsecond rounded up.
func roundedMicros(d time.Duration) uint64 {
	nanos := uint64(d) //nolint:gosec // the sign is handled below
	if d < 0 {
		nanos = -nanos // correct for the smallest Duration too
	}
	return (nanos + 500) / 1000
}
