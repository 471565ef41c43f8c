package edge

import (
	"time"

	"edgeproxy/internal/ops/top"
)

// Top is the document of GET /top. If nothing is counted, Entries is 0 and there are no lists.
type Top struct {
	Entries int        `json:"entries"` // counters of each list
	Window  float64    `json:"window_seconds,omitempty"`
	Since   *time.Time `json:"since,omitempty"`        // when these counts began
	Over    float64    `json:"seconds,omitempty"`      // since then
	Dropped int64      `json:"dropped"`                // requests that were not counted, since counting was turned on
	Memory  int64      `json:"memory_bytes,omitempty"` // the memory of all lists
	Hosts   TopLists   `json:"hosts"`
	URLs    TopLists   `json:"urls"`
}

// TopLists are the lists of one kind by measure: requests, bytes, misses and held_back.
type TopLists map[string]TopList

// TopList has the rows with the largest counts, and the total over all.
type TopList struct {
	Total int64    `json:"total"`
	Rows  []TopRow `json:"rows"`
}

// TopRow is one host or URL. The true count is from AtLeast to AtMost.
type TopRow struct {
	Name    string `json:"name"` // printable ASCII, other bytes as \xHH
	Cut     bool   `json:"cut,omitempty"`
	AtLeast int64  `json:"at_least"`
	AtMost  int64  `json:"at_most"`
}

// top answers GET /top.
func (e *Edge) top(rows int) any {
	a := Top{Hosts: TopLists{}, URLs: TopLists{}}
	t := e.proxy.Top()
	if t == nil {
		return a
	}
	now := time.Now()
	since := t.Since(now)
	utc := since.UTC().Round(time.Millisecond)
	a.Entries, a.Window, a.Since, a.Over = t.Entries, t.Window.Seconds(), &utc, now.Sub(since).Seconds()
	a.Dropped, a.Memory = t.Dropped(), t.MemoryBytes()
	for m := range top.Measures {
		a.Hosts[m.String()] = topListOf(t, top.Hosts, m, rows, now)
		a.URLs[m.String()] = topListOf(t, top.URLs, m, rows, now)
	}
	return a
}

func topListOf(t *top.Table, kind top.Kind, by top.Measure, n int, now time.Time) TopList {
	rows, total := t.List(kind, by, n, now)
	l := TopList{Total: total, Rows: make([]TopRow, len(rows))}
	for i, r := range rows {
		l.Rows[i] = TopRow{Name: Escape(r.Key), Cut: r.Cut, AtLeast: r.AtLeast, AtMost: r.AtMost}
	}
	return l
}

// Requests is the document of GET /requests.
type Requests struct {
	Total    int              `json:"total"` // requests in progress; the oldest of them are in Requests
	Requests []RunningRequest `json:"requests"`
}

// RunningRequest is one request in progress. Its texts are printable ASCII, other bytes as \xHH.
type RunningRequest struct {
	Age      float64 `json:"age_seconds"`
	Phase    string  `json:"phase"`
	Method   string  `json:"method"`
	Scheme   string  `json:"scheme"`
	Host     string  `json:"host"`
	Target   string  `json:"target"`
	Cut      bool    `json:"cut,omitempty"` // host or target is longer
	Client   string  `json:"client,omitempty"`
	Route    string  `json:"route"`
	Bytes    int64   `json:"bytes"`              // bytes of the response body sent so far
	Received int64   `json:"received,omitempty"` // bytes of a tunnel from the client
}

// requests answers GET /requests.
func (e *Edge) requests(n int) any {
	now := time.Now()
	rows, total := e.proxy.Running(n)
	a := Requests{Total: total, Requests: make([]RunningRequest, len(rows))}
	for i, r := range rows {
		a.Requests[i] = RunningRequest{
			Age: max(now.Sub(r.Start).Seconds(), 0), Phase: r.Phase.String(), Method: Escape(r.Method), Scheme: r.Scheme,
			Host: Escape(r.Host), Target: Escape(r.Target), Cut: r.Cut, Client: Escape(r.Client), Route: r.Route, Bytes: r.Sent, Received: r.Received,
		}
	}
	return a
}

// Escape writes every byte that is not printable ASCII as \xHH, as texts in the documents are. So no client can send escape
// sequences to a terminal. A text that is escaped already stays the same.
func Escape(s string) string {
	const hex = "0123456789abcdef"
	for i := range len(s) {
		if s[i] >= ' ' && s[i] < 0x7f {
			continue
		}
		out := []byte(s[:i])
		for ; i < len(s); i++ {
			if s[i] >= ' ' && s[i] < 0x7f {
				out = append(out, s[i])
				continue
			}
			out = append(out, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
		}
		return string(out)
	}
	return s
}
