package main

import (
	"time"

	"edgeproxy/internal/top"
)

// topAnswer is the document of GET /top. If nothing is counted, Entries is 0 and there are no lists.
type topAnswer struct {
	Entries int        `json:"entries"` // counters of each list
	Window  float64    `json:"window_seconds,omitempty"`
	Since   *time.Time `json:"since,omitempty"`        // when these counts began
	Over    float64    `json:"seconds,omitempty"`      // since then
	Dropped int64      `json:"dropped"`                // requests that were not counted, since counting was turned on
	Memory  int64      `json:"memory_bytes,omitempty"` // of all lists
	Hosts   topLists   `json:"hosts"`
	URLs    topLists   `json:"urls"`
}

// topLists are the lists of one kind by measure: requests, bytes, misses and held_back.
type topLists map[string]topList

// topList has the rows with the largest counts, and the total over all.
type topList struct {
	Total int64    `json:"total"`
	Rows  []topRow `json:"rows"`
}

// topRow is one host or URL. The true count is from AtLeast to AtMost.
type topRow struct {
	Name    string `json:"name"` // printable ASCII, other bytes as \xHH
	Cut     bool   `json:"cut,omitempty"`
	AtLeast int64  `json:"at_least"`
	AtMost  int64  `json:"at_most"`
}

// top answers GET /top.
func (e *edge) top(rows int) any {
	a := topAnswer{Hosts: topLists{}, URLs: topLists{}}
	t := e.proxy.Top()
	if t == nil {
		return a
	}
	now := time.Now()
	since := t.Since(now)
	utc := since.UTC().Round(time.Millisecond)
	a.Entries, a.Window, a.Since, a.Over = t.Entries(), t.Window().Seconds(), &utc, now.Sub(since).Seconds()
	a.Dropped, a.Memory = t.Dropped(), t.MemoryBytes()
	for m := range top.Measures {
		a.Hosts[m.String()] = topListOf(t, top.Hosts, m, rows, now)
		a.URLs[m.String()] = topListOf(t, top.URLs, m, rows, now)
	}
	return a
}

func topListOf(t *top.Table, kind top.Kind, by top.Measure, n int, now time.Time) topList {
	rows, total := t.List(kind, by, n, now)
	l := topList{Total: total, Rows: make([]topRow, len(rows))}
	for i, r := range rows {
		l.Rows[i] = topRow{Name: escapeNonASCII(r.Key), Cut: r.Cut, AtLeast: r.AtLeast, AtMost: r.AtMost}
	}
	return l
}

// requestsAnswer is the document of GET /requests.
type requestsAnswer struct {
	Total    int              `json:"total"` // requests in progress; the oldest of them are in Requests
	Requests []runningRequest `json:"requests"`
}

// runningRequest is one request in progress. Its texts are printable ASCII, other bytes as \xHH.
type runningRequest struct {
	Age      float64 `json:"age_seconds"`
	Phase    string  `json:"phase"`
	Method   string  `json:"method"`
	Scheme   string  `json:"scheme"`
	Host     string  `json:"host"`
	Target   string  `json:"target"`
	Cut      bool    `json:"cut,omitempty"` // host or target is longer
	Client   string  `json:"client,omitempty"`
	Route    string  `json:"route"`
	Bytes    int64   `json:"bytes"`              // of the response body, sent so far
	Received int64   `json:"received,omitempty"` // of a tunnel, from the client
}

// requests answers GET /requests.
func (e *edge) requests(n int) any {
	now := time.Now()
	rows, total := e.proxy.Running(n)
	a := requestsAnswer{Total: total, Requests: make([]runningRequest, len(rows))}
	for i, r := range rows {
		a.Requests[i] = runningRequest{
			Age: max(now.Sub(r.Start).Seconds(), 0), Phase: r.Phase.String(), Method: escapeNonASCII(r.Method), Scheme: r.Scheme,
			Host: escapeNonASCII(r.Host), Target: escapeNonASCII(r.Target), Cut: r.Cut, Client: escapeNonASCII(r.Client), Route: r.Route, Bytes: r.Sent, Received: r.Received,
		}
	}
	return a
}

// escapeNonASCII writes every byte that is not printable ASCII as \xHH. So no client can send escape sequences to a terminal.
func escapeNonASCII(s string) string {
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
