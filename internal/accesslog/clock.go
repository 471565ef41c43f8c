package accesslog

import "time"

// clock writes times, and keeps the second that it wrote last: lines come by the hundred in one. It is for one
// goroutine at a time. The zero value is ready to use.
type clock struct {
	json, combined second
}

// second is a second in some layout. An empty text is none.
type second struct {
	unix int64
	text []byte
}

// appendTime appends t as RFC 3339 in UTC with six digits of microseconds.
func (c *clock) appendTime(b []byte, t time.Time) []byte {
	b = c.json.append(b, t, "2006-01-02T15:04:05.")
	return append(appendSix(b, uint32(t.Nanosecond()/1000)), 'Z') //nolint:gosec // below a million
}

// appendCombined appends t as the combined format has it, in UTC.
func (c *clock) appendCombined(b []byte, t time.Time) []byte {
	return c.combined.append(b, t, "02/Jan/2006:15:04:05 -0700")
}

func (s *second) append(b []byte, t time.Time, layout string) []byte {
	if unix := t.Unix(); unix != s.unix || len(s.text) == 0 {
		s.unix, s.text = unix, t.UTC().AppendFormat(s.text[:0], layout)
	}
	return append(b, s.text...)
}
