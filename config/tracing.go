package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/ops/spans"
)

// Tracing says which requests are traced, and where their spans go.
type Tracing struct {
	spans.Target
	Sample float64 // the share of requests that are traced, 0 to 1
	Most   int     // requests that are traced in a second
}

// maxTraced is the largest value of most_per_second. It exceeds the spans of a second that the queue holds.
const maxTraced = 10_000

func (t *Tracing) table() table {
	return table{
		live("endpoint", textual(&t.Endpoint, "").withBounds("http[s]://HOST[:PORT][/PATH]"), `A receiver of OTLP over HTTP; spans go to its /v1/traces. "" traces nothing.`).withExample(`"http://127.0.0.1:4318"`),
		live("headers", secretValues(&t.Headers), "Fields to send with spans, such as a key of the receiver. They are shown nowhere.").withExample(`{Authorization: "Bearer ${OTLP_TOKEN:-}"}`),
		live("timeout", duration(&t.Timeout, 10*time.Second).moreThan(0), "How long the receiver may take for one export; no client waits for it."),
		live("sample", ratio(&t.Sample, 0.01).between(0, 1), "The share of requests that are traced, at random. For trusted_proxies the sampled flag of traceparent decides instead, if there is one."),
		live("most_per_second", count(&t.Most, 100).between(1, maxTraced), "The most requests that are traced in a second, for all clients together."),
		live("service_name", textual(&t.Service, "edgeproxy"), "The service.name of spans. node.name is their service.instance.id."),
	}
}

// secretValues is a section of secrets by field name.
func secretValues(field *spans.Headers) *scalar[spans.Headers] {
	return &scalar[spans.Headers]{
		field: field, kindText: "section of texts by field name, secrets", decode: func(d *decoder, f *spans.Headers) func(node) { return d.secretValues(f) },
		shape: func() object { return namedTexts(ref("text")) },
		yaml: func(values spans.Headers) string {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(values)) {
				parts = append(parts, quoted(name)+": "+quoted(Secret(values[name]).String()))
			}
			return "{" + strings.Join(parts, ", ") + "}"
		},
	}
}

func (d *decoder) secretValues(dst *spans.Headers) func(node) {
	return func(n node) {
		*dst = nil
		d.each(n, "must be a section of names and values, such as {Authorization: \"Bearer ${OTLP_TOKEN}\"}", func(name string, n node) {
			var value Secret
			d.secret(&value)(n)
			if *dst == nil {
				*dst = spans.Headers{}
			}
			(*dst)[name] = string(value)
		})
	}
}

// tracing checks the section tracing.
func (v *validator) tracing() {
	const endpoint, service = "tracing.endpoint", "tracing.service_name"
	t := &v.c.Tracing
	if v.noErrorAt(endpoint) && t.Endpoint != "" {
		v.endpoint(endpoint, t.Endpoint)
	}
	v.unusedTracingKeys()
	if v.noErrorAt(service) && (t.Service == "" || len(t.Service) > 256 || strings.ContainsFunc(t.Service, func(r rune) bool { return r < ' ' || r == 0x7f })) {
		v.fail(service, "must be a name of 1 to 256 bytes, without control characters")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		v.sentField(child("tracing.headers", name), name, t.Headers[name])
	}
}

func (v *validator) endpoint(path, text string) {
	const want = "must be http[s]://HOST[:PORT][/PATH]"
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		v.fail(path, want)
	case !reachable(u):
		v.fail(path, want+", with a port of 1 to 65535")
	case u.User != nil:
		v.fail(path, want+", without user or password; put them into tracing.headers")
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		v.fail(path, want+", without query or fragment")
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/v1/traces"):
		v.fail(path, want+": /v1/traces is added to it")
	}
}

// sentField checks a field to send with spans. No error shows its value.
func (v *validator) sentField(path, name, value string) {
	switch {
	case name == "" || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	}):
		v.addError(path, "", "must be the name of a header field")
	case slices.Contains([]string{"content-type", "content-length", "content-encoding", "transfer-encoding", "connection", "host", "user-agent"}, strings.ToLower(name)):
		v.addError(path, "", "remove it: edgeproxy sets this field")
	case value == "" || len(value) > 4096 || strings.Trim(value, " ") != value || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		v.addError(path, "", "must be a value of 1 to 4096 bytes, without control characters, and without spaces before or behind it")
	}
}

// unusedTracingKeys refuses settings of tracing without an endpoint: the operator expects spans.
func (v *validator) unusedTracingKeys() {
	t, defaults := &v.c.Tracing, withDefaults((*Tracing).table)
	if t.Endpoint != "" || !v.noErrorAt("tracing.endpoint") {
		return
	}
	own, byDefault := t.table(), defaults.table()
	for i, s := range own {
		at := child("tracing", s.name)
		if v.src.given(at) && v.noErrorAt(at) && !same(s.value, byDefault[i].value) {
			v.fail(at, "needs tracing.endpoint, too: without it nothing is traced")
		}
	}
}
