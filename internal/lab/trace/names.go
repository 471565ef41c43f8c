package trace

import (
	"fmt"
	"slices"
	"strings"
)

// role is the meaning of a field of a log.
type role int

const (
	roleTarget  role = iota // path and query, or a whole URL
	roleHost                // optional
	roleBytes               // bytes of the response, "-" is none
	roleStatus              // optional; without it all are 200
	roleMethod              // optional; without it all are GET
	roleTime                // optional
	roleDate                // where roleTime is only the time of day
	roleQuery               // where roleTarget is only the path
	roleRequest             // METHOD TARGET PROTOCOL, in place of roleMethod and roleTarget
	roles
)

// String returns the role as Fields names it.
func (r role) String() string {
	return [roles]string{
		roleTarget: "target", roleHost: "host", roleBytes: "bytes", roleStatus: "status", roleMethod: "method",
		roleTime: "time", roleDate: "date", roleQuery: "query", roleRequest: "request",
	}[r]
}

// names are the names that the field of each role may have. The first one that a log has is used.
type names [roles][]string

// headings are the usual names, without case. "host" is not among them: in logs it is the client.
func headings() names {
	return names{
		roleTarget:  {"url", "uri", "target", "request_uri", "path", "key", "object", "id"},
		roleHost:    {"vhost", "server_name", "authority"},
		roleBytes:   {"bytes", "body_bytes_sent", "size", "bytes_sent", "sc-bytes", "length", "content_length"},
		roleStatus:  {"response", "status", "status_code", "sc-status"},
		roleMethod:  {"method", "request_method", "cs-method", "verb"},
		roleTime:    {"time", "timestamp", "ts", "time_local", "time_iso8601"},
		roleDate:    {"date"},
		roleRequest: {"request"},
	}
}

// Fields names the fields of a log of JSON objects, TSV or CSV. It is a flag's value. What it leaves out has the usual
// names. A name with dots is also a path: a.b is b of the object a. Numbers alone are the columns, from 1, of TSV or CSV without a header line.
type Fields struct{ of [roles]string }

// Set adds the fields of text: ROLE=NAME, separated by commas.
func (f *Fields) Set(text string) error {
	for pair := range strings.SplitSeq(text, ",") {
		what, name, ok := strings.Cut(strings.TrimSpace(pair), "=")
		r := roleOf(what)
		switch {
		case !ok || name == "" || r == roles:
			return fmt.Errorf("%q: must be ROLE=FIELD with a role of %s, such as target=url,bytes=size", printable(pair), strings.Join(FieldRoles(), ", "))
		case f.of[r] != "":
			return fmt.Errorf("%s is given twice", r)
		case slices.Contains(f.of[:], name):
			return fmt.Errorf("the field %q is given twice", printable(name))
		}
		f.of[r] = name
	}
	return nil
}

// String returns what Set takes.
func (f *Fields) String() string {
	var out []string
	for r, name := range f.of {
		if name != "" {
			out = append(out, role(r).String()+"="+name)
		}
	}
	return strings.Join(out, ",")
}

// Type names the value in the help of a flag.
func (f *Fields) Type() string { return "list" }

// given reports whether there are any.
func (f *Fields) given() bool { return f.of != [roles]string{} }

// FieldRoles returns the roles that Fields takes.
func FieldRoles() []string {
	out := make([]string, roles)
	for r := range roles {
		out[r] = r.String()
	}
	return out
}

// roleOf returns the role with this name; roles is none.
func roleOf(name string) role {
	for r := range roles {
		if r.String() == name {
			return r
		}
	}
	return roles
}

// names returns all names: those given, and the usual ones of the other roles. A request line that is given is not
// overruled by a field that happens to be named like a target.
func (f *Fields) names() names {
	out := headings()
	if f.of[roleRequest] != "" {
		out[roleTarget], out[roleMethod] = nil, nil
	}
	for r, name := range f.of {
		if name != "" {
			out[r] = []string{name}
		}
	}
	return out
}

// numbered reports whether the fields are the numbers of columns.
func (f *Fields) numbered() bool {
	for _, name := range f.of {
		if name != "" && !allDigits([]byte(name)) {
			return false
		}
	}
	return f.given()
}

// dialect is a format whose fields have names of its own: in JSON, and in TSV or CSV with a header line.
type dialect struct {
	name   string
	fields names
	sparse bool          // in JSON a size of 0 is left out
	text   func() parser // its lines that are no JSON; nil if there are none
}

// dialects returns the formats that servers and clouds write, by the names in their documentation.
func dialects() []dialect {
	return []dialect{
		{name: "envoy", text: newEnvoy, fields: names{
			roleTarget: {"path"}, roleHost: {"authority"}, roleBytes: {"bytes_sent"}, roleStatus: {"response_code"}, roleMethod: {"method"}, roleTime: {"start_time"},
		}},
		{name: "haproxy", text: newHAProxy},
		{name: "alb", text: newALB, fields: names{ // names of the columns in Amazon's tables for Athena
			roleTarget: {"request_url"}, roleBytes: {"sent_bytes"}, roleStatus: {"elb_status_code"}, roleMethod: {"request_verb"}, roleTime: {"time"},
		}},
		{name: "traefik", text: newCombined, fields: names{
			roleTarget: {"RequestPath"}, roleHost: {"RequestAddr", "RequestHost"}, roleBytes: {"DownstreamContentSize"},
			roleStatus: {"DownstreamStatus"}, roleMethod: {"RequestMethod"}, roleTime: {"StartUTC", "StartLocal", "time"},
		}},
		{name: "ingress-nginx", text: newCombined, fields: names{ // names that its documentation has for JSON
			roleTarget: {"path"}, roleQuery: {"request_query"}, roleHost: {"vhost"}, roleBytes: {"bytes_sent"},
			roleStatus: {"status"}, roleMethod: {"method"}, roleTime: {"time", "time_iso8601"},
		}},
		{name: "cloudflare", fields: names{
			roleTarget: {"ClientRequestURI"}, roleHost: {"ClientRequestHost"}, roleBytes: {"EdgeResponseBodyBytes", "EdgeResponseBytes"},
			roleStatus: {"EdgeResponseStatus"}, roleMethod: {"ClientRequestMethod"}, roleTime: {"EdgeStartTimestamp"},
		}},
		{name: "cloudfront", fields: names{
			roleTarget: {"cs-uri-stem"}, roleQuery: {"cs-uri-query"}, roleHost: {"x-host-header", "cs(Host)"}, roleBytes: {"sc-content-len", "sc-bytes"},
			roleStatus: {"sc-status"}, roleMethod: {"cs-method"}, roleTime: {"time"}, roleDate: {"date"},
		}},
		{name: "gcp", sparse: true, fields: names{
			roleTarget: {"httpRequest.requestUrl"}, roleBytes: {"httpRequest.responseSize"}, roleStatus: {"httpRequest.status"},
			roleMethod: {"httpRequest.requestMethod"}, roleTime: {"timestamp"},
		}},
	}
}
