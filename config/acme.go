package config

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// ACME says which certificates are ordered from an authority, and how (RFC 8555).
// Without names nothing is ordered.
type ACME struct {
	Names       []string // host names in lower case, each once
	AcceptTerms bool     // to the terms of the authority; true if there are names
	Email       string   // where the authority may write to; "" is nowhere
	Directory   string   // the authority's directory, an https URL
	CA          string   // a PEM file with the roots to verify the directory; "" is the system's
	Storage     string   // the folder with account, keys and certificates
	Challenges  []Challenge
}

// Challenge is a way to prove to the authority that a name is ours.
type Challenge string

// The values of Challenge.
const (
	TLSALPN01 Challenge = "tls-alpn-01" // RFC 8737, on listeners with tls: true
	HTTP01    Challenge = "http-01"     // RFC 8555 section 8.3, on the others
)

const (
	letsEncrypt  = "https://acme-v02.api.letsencrypt.org/directory"
	wantACMEName = "must be a host name, such as www.example.com, without a port"
)

func (a *ACME) table() table {
	return table{
		restart("names", list(&a.Names, nil, "host names", "must be a list, such as [www.example.com]", acmeName),
			"Names to order certificates for, without wildcards.").asRequired().withExample("[www.example.com]"),
		restart("accept_terms", boolean(&a.AcceptTerms, false), "true accepts the terms of the authority, which is required.").asRequired(),
		restart("email", textual(&a.Email, ""), "The address that the authority may write to."),
		restart("directory", textual(&a.Directory, letsEncrypt), "The authority's directory, an https URL."),
		restart("ca", textual(&a.CA, ""), "A PEM file with the roots of a private directory."),
		restart("storage", textual(&a.Storage, ""), "The folder for account, keys and certificates. It has to outlive a restart.").asRequired(),
		restart("challenges", list(&a.Challenges, []Challenge{TLSALPN01, HTTP01}, "challenges", "must be a list, such as [tls-alpn-01, http-01]", challenge),
			"How the authority checks names: tls-alpn-01 on listeners with tls: true, http-01 on those without.").asDependent(),
	}
}

func challenge(c *Challenge) *scalar[Challenge] { return enum(c, "", TLSALPN01, HTTP01) }

func acmeName(name *string) *scalar[string] {
	return parsed(name, "", "host name", wantACMEName, parseACMEName, func(s string) string { return s })
}

// parseACMEName reads a host name that an authority can check over the network. The
// error says what is wanted.
func parseACMEName(text string) (string, error) {
	name := strings.ToLower(text)
	switch {
	case strings.Contains(name, "*"):
		return "", errors.New("must be a name without *: wildcards need the challenge dns-01, which is " + notYet)
	case net.ParseIP(strings.Trim(name, "[]")) != nil:
		return "", errors.New(wantACMEName + ": no certificate is ordered for an IP address")
	case strings.ContainsFunc(name, func(r rune) bool { return r > unicode.MaxASCII }):
		return "", errors.New(wantACMEName + "; write other letters in their ASCII form, xn--…")
	case !validDNSName(name):
		return "", errors.New(wantACMEName)
	}
	return name, nil
}

// validDNSName reports whether name has the form of a host name in the DNS, in lower case
// and without a last dot (RFC 1123 section 2.1).
func validDNSName(name string) bool {
	if len(name) > 253 {
		return false
	}
	for label := range strings.SplitSeq(name, ".") {
		inner := strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-")
		if label == "" || len(label) > 63 || inner != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// acme checks the section, if there is one. It does not read the files: internal/edge does.
func (v *validator) acme(secure bool) {
	const section = "tls.acme"
	a := &v.c.TLS.ACME
	if !v.src.given(section) {
		return
	}
	if !secure && v.noErrorAt(section, "listen") {
		v.addError(section, "", "remove the section: "+v.noTLS())
	}
	v.acmeNames(child(section, "names"), a.Names)
	v.want(a.AcceptTerms, child(section, "accept_terms"), "must be true: the authority issues no certificate unless you accept its terms")
	v.want(a.Email == "" || validEmail(a.Email), child(section, "email"), "must be one address, such as admin@example.com")
	v.want(validDirectory(a.Directory), child(section, "directory"), "must be the URL of a directory, https://…")
	v.want(a.Storage != "", child(section, "storage"), missing("a folder that outlives a restart, for the account, keys and certificates"))
	v.challenges(child(section, "challenges"), a.Challenges)
}

// want adds the error want at path, unless right is true or path has an error already.
func (v *validator) want(right bool, path, want string) {
	if !right && v.noErrorAt(path) {
		v.fail(path, want)
	}
}

func validDirectory(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil && reachable(u)
}

func (v *validator) acmeNames(path string, names []string) {
	v.want(len(names) > 0, path, missing("at least one host"))
	for i, name := range names {
		if at := item(path, i); slices.Contains(names[:i], name) && v.noErrorAt(at) {
			v.fail(at, "each name must be listed once")
		}
	}
}

// challenges checks that each challenge of the file is possible. Default challenges that are
// not possible are no error: they are not tried.
func (v *validator) challenges(path string, challenges []Challenge) {
	v.want(len(challenges) > 0, path, "must be at least one of tls-alpn-01 and http-01")
	for i, c := range challenges {
		at := item(path, i)
		switch {
		case !v.noErrorAt(at, "listen"):
		case slices.Contains(challenges[:i], c):
			v.fail(at, "each challenge must be listed once")
		case c == HTTP01 && v.src.given(path) && !v.c.plain():
			v.fail(at, "http-01 needs a listener without tls: true")
		}
	}
}

// plain reports whether there is a listener without TLS.
func (c *Config) plain() bool {
	return slices.ContainsFunc(c.Listen, func(l Listen) bool { return !l.TLS })
}

// Solves reports whether a challenge is both wanted and possible.
func (c *Config) Solves(challenge Challenge) bool {
	return slices.Contains(c.TLS.ACME.Challenges, challenge) && (challenge != HTTP01 || c.plain())
}

// validEmail reports whether text can stand in a mailto URL as one address.
func validEmail(text string) bool {
	user, host, ok := strings.Cut(text, "@")
	return ok && user != "" && validDNSName(strings.ToLower(host)) && !strings.ContainsFunc(user, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),:;<>?[\]%&#`, r)
	})
}
