package accesslog

import "time"

// clock formats times. It caches the text of the last second, because a busy log has hundreds of lines a second. It is not
// safe for concurrent use. The zero value is ready to use.
type clock struct {
	json, combined second
}

// second is the cached text of a second in one layout. An empty text means nothing is cached.
type second struct {
	unix int64
	text []byte
}

// appendTime appends t as RFC 3339 in UTC with six digits of microseconds.
func (c *clock) appendTime(b []byte, t time.Time) []byte {
	b = c.json.append(b, t, "2006-01-02T15:04:05.")
	return append(appendSix(b, uint32(t.Nanosecond()/1000)), 'Z') //nolint:gosec // below a million
}

// appendCombined appends t in the layout of the combined format, in UTC.
func (c *clock) appendCombined(b []byte, t time.Time) []byte {
	return c.combined.append(b, t, "02/Jan/2006:15:04:05 -0700")
}

func (s *second) append(b []byte, t time.Time, layout string) []byte {
	if unix := t.Unix(); unix != s.unix || len(s.text) == 0 {
		s.unix, s.text = unix, t.UTC().AppendFormat(s.text[:0], layout)
	}
	return append(b, s.text...)
}
