package config

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/template"
)

// Redirect sends clients elsewhere.
type Redirect struct {
	To     string // a URL with placeholders such as {host}; "" is no redirect
	Status int
}

// Respond is a fixed answer.
type Respond struct {
	Status  int // 0 is no fixed answer
	Body    string
	Headers map[string]string
}

// Access says which clients a route serves.
type Access struct {
	Allow, Deny []netip.Prefix // Deny takes precedence; an empty Allow is all. In this package the words all and none are empty lists, not nil
	BasicAuth   BasicAuth
}

// BasicAuth names the users that a route serves (RFC 7617).
type BasicAuth struct {
	Enabled   bool   // false serves everybody, even if the top of the file has users. UsersFile in force is "" then
	UsersFile string // a file made by htpasswd, with bcrypt hashes; "" is everybody. internal/route/basicauth reads it
	Realm     string // the realm that clients are shown
}

func (r *Redirect) table() table {
	return table{
		live("to", textual(&r.To, ""), "Where to, with {scheme}, {host}, {hostport}, {port}, {path}, {query} and {uri} of the request.").withExample("https://{host}{uri}"),
		live("status", enum(&r.Status, 302, 301, 302, 303, 307, 308), "Clients remember 301 and 308; 307 and 308 keep the method."),
	}
}

func (r *Respond) table() table {
	return table{
		live("status", count(&r.Status, 0).withBounds("0, or 200 to 599 but 206 and 304"), "The status; 0 is no fixed answer. With 444 nothing is sent, and the connection ends, or with HTTP/2 the stream."),
		live("body", textual(&r.Body, ""), "The content, as text."),
		live("headers", fieldValues(&r.Headers), "Header fields, with the placeholders of headers.request.set; Content-Type is text/plain by default.").withExample("{Content-Type: text/html}"),
	}
}

func (a *Access) table() table {
	return table{
		live("allow", networksOr(&a.Allow, allClients, "must be a list, such as [10.0.0.0/8], or all"),
			"Only these clients are served; all, or an empty list, is every client. A route's list replaces the one at the top.").withExample("[10.0.0.0/8]"),
		live("deny", networksOr(&a.Deny, "none", "must be a list, such as [10.0.0.0/8], or none"),
			"These clients get 403, even if allow names them. A route adds to the list at the top; none clears that list.").withExample("[10.9.0.0/16]"),
		section("basic_auth", a.BasicAuth.table, "Only these users are served, by name and password.").asInline().asOptional(),
	}
}

func (b *BasicAuth) table() table {
	return table{
		live("enabled", boolean(&b.Enabled, true), "false asks for no password, even if the top of the file does."),
		live("users_file", textual(&b.UsersFile, ""), `A file made by htpasswd -B, required with basic_auth. Each reload reads it again.`).withExample("/etc/edgeproxy/users"),
		live("realm", textual(&b.Realm, "restricted").withBounds(`visible ASCII and spaces but " and \, 1 to 128`), "The text that browsers show when they ask."),
	}
}

// basicAuth checks the basic_auth section of a route or of the top, and the settings in force.
func (v *validator) basicAuth(path string, own, inForce *BasicAuth) {
	enabled, file, realm := child(path, "enabled"), child(path, "users_file"), child(path, "realm")
	switch {
	case !v.noErrorAt(enabled, file, realm):
	case !own.Enabled:
		if v.src.given(file) || v.src.given(realm) {
			v.fail(enabled, "must have no users_file and no realm with enabled: false")
		}
	case !validRealm(own.Realm):
		v.fail(realm, `must be 1 to 128 visible ASCII characters and spaces, without " and \`)
	case own.UsersFile == "" && v.src.given(file):
		v.fail(file, "must be a file made by htpasswd -B, or remove basic_auth: without users everybody would be served")
	case inForce.UsersFile == "" && v.src.given(path):
		v.fail(path, "needs users_file in it, or remove the section: without users everybody would be served")
	case v.src.given(path) && !slices.ContainsFunc([]string{enabled, file, realm}, v.src.given):
		v.fail(path, "needs users_file, realm or enabled: false in it, or remove the section: an empty one does not say which is meant")
	}
}

func validRealm(realm string) bool {
	return realm != "" && len(realm) <= 128 && !strings.ContainsFunc(realm, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' })
}

// AnswersItself reports whether the route has redirect or respond in place of an origin.
func (r *Route) AnswersItself() bool { return r.Redirect.To != "" || r.Respond.Status != 0 }

// timeoutsWithoutOrigin refuses timeouts of a route that asks no origin.
func (v *validator) timeoutsWithoutOrigin(path string, r *Route) {
	for _, s := range []struct {
		name string
		time time.Duration
	}{{"connect_timeout", r.ConnectTimeout}, {"first_byte_timeout", r.FirstByteTimeout}, {"idle_timeout", r.IdleTimeout}, {"total_timeout", r.ownInherited.TotalTimeout}} {
		if at := child(path, s.name); s.time > 0 && r.AnswersItself() && v.noErrorAt(at) {
			v.fail(at, "remove it: a route with redirect or respond asks no origin")
		}
	}
}

// noAnswer is the status of a fixed answer that is not sent.
const noAnswer = 444

// validRespondStatus reports whether a fixed answer may have this status. 206 and 304 need more
// than a body.
func validRespondStatus(n int) bool { return n >= 200 && n <= 599 && n != 206 && n != 304 }

// redirectAndRespond checks the sections redirect and respond of a route.
func (v *validator) redirectAndRespond(path string, r *Route) {
	to, status, body := descendant(path, "redirect.to"), descendant(path, "respond.status"), descendant(path, "respond.body")
	if !v.noErrorAt(to, status, body) {
		return
	}
	switch n := r.Respond.Status; {
	case n != 0 && !validRespondStatus(n):
		v.fail(status, "must be 200 to 599, but not 206 or 304")
	case n == 0 && r.Respond.hasContent():
		v.fail(status, "must be a status, such as 200, or remove the section")
	case n == noAnswer && r.Respond.hasContent():
		v.sendsNothing(path, r)
	case isEmpty(n) && r.Respond.Body != "":
		v.fail(body, fmt.Sprintf("remove it: a response with status %d has no content", n))
	case n != 0 && r.Redirect.To != "":
		v.fail(status, "must be only one of redirect and respond")
	}
}

// isEmpty reports whether a response with this status has no content.
func isEmpty(status int) bool { return status == 204 || status == 205 }

// hasContent reports whether there is something to send besides the status.
func (r *Respond) hasContent() bool { return r.Body != "" || len(r.Headers) > 0 }

// sendsNothing refuses what a fixed answer that is not sent would have.
func (v *validator) sendsNothing(path string, r *Route) {
	at := descendant(path, "respond.headers")
	if r.Respond.Body != "" {
		at = descendant(path, "respond.body")
	}
	v.fail(at, "remove it: with status 444 nothing is sent")
}

// Location returns where redirect leads, for a Config that has passed all checks; the zero Location is no redirect.
func (r *Route) Location() template.Location { return r.location }

// AnswerFields returns the rules of respond.headers, for a Config that has passed all checks.
func (r *Route) AnswerFields() fieldrules.Rules { return r.answerFields }

// ownAnswers reads the texts of redirect and respond.
func (v *validator) ownAnswers() (found Errors) {
	for i := range v.c.Routes {
		r, at := &v.c.Routes[i], v.c.Routes[i].path
		var err error
		if r.Redirect.To != "" {
			if r.location, err = template.ParseLocation(r.Redirect.To); err != nil {
				found = append(found, v.src.fault(descendant(at, "redirect.to"), err.Error()))
			}
		}
		r.answerFields, err = fieldrules.ForAnswers(r.Respond.Headers)
		for _, e := range Joined[*field.RuleError](err) {
			found = append(found, v.src.fault(descendant(at, "respond.headers")+"."+e.Name, "must be "+e.Want))
		}
	}
	return found
}
