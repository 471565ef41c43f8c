package origin

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"edgeproxy/internal/http/field"
)

// connectionSpecific lists fields that have no place in HTTP/2 (RFC 9113 section 8.2.2).
var connectionSpecific = [...]string{"Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade"}

// fieldsOf checks the fields of a header or trailer section as for HTTP/1.1, and counts their bytes as HTTP/1.1 would
// have them. It keeps the order of fields of one name; the library does not tell the order of others.
func fieldsOf(h http.Header) (list field.List, size int, err error) {
	lines := 0
	for _, values := range h {
		lines += len(values)
	}
	if lines > maxFields {
		return nil, 0, malformed("%d header fields: the limit is %d", lines, maxFields)
	}
	list = make(field.List, 0, lines+1)
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !field.ValidName(name) || slices.ContainsFunc(connectionSpecific[:], func(c string) bool { return strings.EqualFold(c, name) }) {
			return nil, 0, malformed("invalid header field name %.40q", name)
		}
		for _, value := range h[name] {
			if !field.ValidValue(value) || value != "" && (blank(value[0]) || blank(value[len(value)-1])) {
				return nil, 0, malformed("invalid value of header field %.40q", name)
			}
			list.Add(field.Canonical(name), value)
			size += len(name) + len(": \r\n") + len(value)
		}
	}
	return list, size, nil
}

// headOf makes a head of the final response, of at most limit bytes.
func headOf(res *http.Response, limit int) (head, error) {
	code, _, _ := strings.Cut(res.Status, " ")
	if len(code) != len("200") || !digits(code) || res.StatusCode < 200 {
		return head{}, malformed("invalid status %.40q", code)
	}
	fields, size, err := fieldsOf(res.Header)
	if err != nil {
		return head{}, err
	}
	if names := slices.Sorted(maps.Keys(res.Trailer)); len(names) > 0 { // what the library has taken out of the header
		value := strings.Join(names, ", ")
		if !field.ValidValue(value) {
			return head{}, malformed("invalid value of header field %.40q", "Trailer")
		}
		fields.Add("Trailer", value)
		size += len("Trailer: \r\n") + len(value)
	}
	if size > limit {
		return head{}, tooLong(limit)
	}
	return head{minor: 1, status: res.StatusCode, fields: fields}, nil
}

// trailersOf checks the trailers of a response whose body has ended.
func trailersOf(t http.Header) (field.List, error) {
	if len(t) == 0 {
		return nil, nil
	}
	list, size, err := fieldsOf(t)
	if err == nil && size > maxTrailerBytes {
		err = malformed("trailer section of more than %d bytes or %d fields", maxTrailerBytes, maxFields)
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list, nil
}

// message returns r in the library's type, without a body. It reports false if the target cannot be expressed in
// HTTP/2.
func (r *Request) message(s *server) (*http.Request, bool) {
	if r.Target[0] != '/' && r.Target != "*" {
		return nil, false
	}
	host := cmp.Or(s.Host, r.Host, s.authority())
	u := &url.URL{Scheme: "http", Host: host, Opaque: r.Target}
	if s.TLS != nil {
		u.Scheme = "https"
	}
	if strings.HasPrefix(r.Target, "//") {
		u.Opaque = "//" + host + r.Target // else its first segment would be taken for a host
	}
	h := make(http.Header, len(r.Header)+2)
	h["User-Agent"] = nil // the library's is not sent
	for i := range r.Header {
		name := field.Canonical(r.Header[i].Name)
		h[name] = append(h[name], r.Header[i].Value)
	}
	if r.TakesTrailers {
		h["Te"] = []string{"trailers"}
	}
	return &http.Request{Method: r.Method, URL: u, Host: host, Header: h, Proto: "HTTP/2.0", ProtoMajor: 2}, true
}
