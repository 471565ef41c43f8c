package accesslog

import (
	"strconv"
	"time"
)

// noOrigin is the end of a line of JSON that tells of no server.
const noOrigin = `,"origin":"","origin_connect":0,"origin_first_byte":0,"origin_total":0}`

// appendLine appends l as one object of JSON. Every key is in every line, in the order of the table.
func (l *Line) appendLine(b []byte) []byte {
	b = append(b, `{"time":"`...)
	b = appendTime(b, l.Time)
	b = appendJSON(append(b, `","host":`...), l.Host)
	b = appendJSON(append(b, `,"target":`...), l.Target)
	b = appendJSON(append(b, `,"method":`...), l.Method)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(l.Status), 10)
	b = strconv.AppendInt(append(b, `,"bytes":`...), l.Bytes, 10)
	b = appendWord(append(b, `,"result":`...), l.Result)
	b = appendWord(append(b, `,"reason":`...), l.Reason)
	b = appendWord(append(b, `,"route":`...), l.Route)
	b = appendSeconds(append(b, `,"duration":`...), l.Duration)
	b = appendSeconds(append(b, `,"first_byte":`...), l.FirstByte)
	b = appendAddr(append(b, `,"client":"`...), l.Client.WithZone(""))
	if zone := l.Client.Zone(); zone != "" {
		b = append(b, '%')
		b = append(b, appendJSON(nil, []byte(zone))[1:]...) // rare: an address of the link
	} else {
		b = append(b, '"')
	}
	b = appendWord(append(b, `,"scheme":`...), l.Scheme)
	b = appendWord(append(b, `,"protocol":`...), l.Protocol)
	b = strconv.AppendInt(append(b, `,"sightings":`...), int64(l.Sightings), 10)
	b = strconv.AppendInt(append(b, `,"ttl":`...), int64(l.TTL/time.Second), 10)
	b = appendJSON(append(b, `,"user_agent":`...), l.UserAgent)
	b = appendJSON(append(b, `,"referer":`...), l.Referer)
	b = appendJSON(append(b, `,"request_id":`...), l.RequestID)
	b = appendJSON(append(b, `,"trace_id":`...), l.TraceID)
	if l.Origin == "" && l.OriginConnect == 0 && l.OriginFirstByte == 0 && l.OriginTotal == 0 {
		return append(b, noOrigin...)
	}
	b = appendWord(append(b, `,"origin":`...), l.Origin)
	b = appendSeconds(append(b, `,"origin_connect":`...), l.OriginConnect)
	b = appendSeconds(append(b, `,"origin_first_byte":`...), l.OriginFirstByte)
	b = appendSeconds(append(b, `,"origin_total":`...), l.OriginTotal)
	return append(b, '}')
}

// appendCombined appends l in the combined format of Apache and nginx, in UTC. The name of a
// user is not known, and a request of an unknown version is of HTTP/1.1.
func (l *Line) appendCombined(b []byte) []byte {
	b = l.appendValue(b, fieldClient)
	b = l.Time.UTC().AppendFormat(append(b, " - - ["...), "02/Jan/2006:15:04:05 -0700")
	b = appendText(append(b, `] "`...), l.Method)
	b = appendText(append(b, ' '), l.Target)
	b = append(b, ' ')
	if l.Protocol == "" {
		b = append(b, "HTTP/1.1"...)
	}
	b = append(b, l.Protocol...)
	b = strconv.AppendInt(append(b, `" `...), int64(l.Status), 10)
	b = strconv.AppendInt(append(b, ' '), l.Bytes, 10)
	b = appendText(append(b, ` "`...), l.Referer)
	b = appendText(append(b, `" "`...), l.UserAgent)
	return append(b, '"')
}

// appendValue appends one field as text. What is empty is a hyphen.
//
//nolint:cyclop // one case for each field
func (l *Line) appendValue(b []byte, f id) []byte {
	switch f {
	case fieldTime:
		return appendTime(b, l.Time)
	case fieldHost:
		return appendText(b, l.Host)
	case fieldTarget:
		return appendText(b, l.Target)
	case fieldMethod:
		return appendText(b, l.Method)
	case fieldStatus:
		return strconv.AppendInt(b, int64(l.Status), 10)
	case fieldBytes:
		return strconv.AppendInt(b, l.Bytes, 10)
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

// appendFurther is appendValue for the fields behind client.
//
//nolint:cyclop // one case for each field
func (l *Line) appendFurther(b []byte, f id) []byte {
	switch f {
	case fieldScheme:
		return appendWordText(b, l.Scheme)
	case fieldProtocol:
		return appendWordText(b, l.Protocol)
	case fieldSightings:
		return strconv.AppendInt(b, int64(l.Sightings), 10)
	case fieldTTL:
		return strconv.AppendInt(b, int64(l.TTL/time.Second), 10)
	case fieldUserAgent:
		return appendText(b, l.UserAgent)
	case fieldReferer:
		return appendText(b, l.Referer)
	case fieldRequestID:
		return appendText(b, l.RequestID)
	case fieldTraceID:
		return appendText(b, l.TraceID)
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

// appendTime is AppendFormat with RFC 3339 in UTC and six digits of microseconds, in a third of its time.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, "2006-01-02T15:04:05.000000Z")
	}
	b = appendTwo(appendTwo(b, year/100), year%100)
	b = appendTwo(append(b, '-'), int(month))
	b = appendTwo(append(b, '-'), day)
	b = appendTwo(append(b, 'T'), hour)
	b = appendTwo(append(b, ':'), minute)
	b = appendTwo(append(b, ':'), second)
	micros := t.Nanosecond() / 1000
	b = appendTwo(append(b, '.'), micros/10000)
	b = appendTwo(appendTwo(b, micros/100%100), micros%100)
	return append(b, 'Z')
}

// appendTwo appends a number of two digits.
func appendTwo(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) }

// appendSeconds appends d in seconds, rounded to microseconds, without an exponent and without
// zeros at the end.
func appendSeconds(b []byte, d time.Duration) []byte {
	micros := int64(d.Round(time.Microsecond) / time.Microsecond)
	if micros < 0 {
		b, micros = append(b, '-'), -micros
	}
	b = strconv.AppendInt(b, micros/1e6, 10)
	rest := micros % 1e6
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(1e5); rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}
