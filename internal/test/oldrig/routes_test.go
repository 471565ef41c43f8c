package edgetest

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"

	"edgeproxy/internal/http/field"
	"edgeproxy/internal/proxy"
	"edgeproxy/internal/route/basicauth"
	"edgeproxy/internal/route/fieldrules"
	"edgeproxy/internal/route/rewrite"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/template"
)

// applyRoute sets what a route has of its own. All else is as in the route for all requests. The origin
// gets its name in X-Route, and rest from the route for all requests.
//
//	path TEXT..., path-prefix TEXT..., path-suffix TEXT...
//	scheme http               what the client has used
//	methods NAME...
//	cache off
//	first-byte D, idle D, total D
//	allow NETWORK..., deny NETWORK...
//	users NAME:PASSWORD...
//	page STATUS TEXT          in place of the content of errors; a STATUS of 4 or 5 is all of a class
//	intercept on              the origin's too
//	redirect STATUS TO
//	respond STATUS [TEXT]
//	respond-set NAME VALUE    a field of what respond says, which stands before
//	rewrite STRIP ADD [keep]  begins of the path, - for none; keep leaves Location alone
//	field NAME VALUE          the value of a request's field; * alone is any, a * at an end is anything there
//	query NAME VALUE          the value of a parameter, as of a field
func (o *Options) applyRoute(w []string) error {
	if len(w) < 3 {
		return fmt.Errorf("set route: want a name, a key and a value, got %q", w)
	}
	change, err := routeChange(w[1], w[2:])
	if err != nil {
		return err
	}
	o.Routes = slices.Clone(o.Routes) // a reload begins with those before
	i := slices.IndexFunc(o.Routes, func(r OtherRoute) bool { return r.Name == w[0] })
	if i < 0 {
		i = len(o.Routes)
		o.Routes = append(o.Routes, OtherRoute{Name: w[0]})
	}
	o.Routes[i].Change = append(slices.Clip(o.Routes[i].Change), change)
	return nil
}

func routeChange(key string, values []string) (func(*proxy.Route), error) {
	value := strings.Join(values, " ")
	switch key {
	case "scheme":
		return func(r *proxy.Route) { r.Scheme = value }, nil
	case "path":
		return func(r *proxy.Route) { r.Paths = values }, nil
	case "path-prefix":
		return func(r *proxy.Route) { r.PathPrefixes = values }, nil
	case "path-suffix":
		return func(r *proxy.Route) { r.PathSuffixes = values }, nil
	case "methods":
		return func(r *proxy.Route) { r.Methods = values }, nil
	case "cache":
		return func(r *proxy.Route) { r.NoCache = value == "off" }, nil
	case "first-byte":
		d, err := time.ParseDuration(value)
		return func(r *proxy.Route) { r.FirstByte = d }, err
	case "idle":
		d, err := time.ParseDuration(value)
		return func(r *proxy.Route) { r.Idle = d }, err
	case "total":
		d, err := time.ParseDuration(value)
		return func(r *proxy.Route) { r.Total = d }, err
	case "rewrite":
		if len(values) < 2 {
			return nil, fmt.Errorf("set route rewrite: want two prefixes, got %q", values)
		}
		w := rewrite.New(strings.Trim(values[0], "-"), strings.Trim(values[1], "-"), len(values) == 2, []string{"inner.test:9000"})
		return func(r *proxy.Route) { r.Rewrite = w }, nil
	case "page", "intercept":
		return pageChange(key, values)
	case "users":
		users, err := users(values)
		return func(r *proxy.Route) { r.Access.Users, r.Access.Realm = users, "staff" }, err
	case "allow", "deny", "redirect", "respond":
		return answerChange(key, values)
	case "respond-set":
		rules, err := fieldrules.ForAnswers(alsoSet(nil, append([]string{key}, values...)))
		return func(r *proxy.Route) { r.Answer.Fields = rules }, err
	case "field", "query":
		if len(values) < 2 {
			return nil, fmt.Errorf("set route %s: want a name and a value, got %q", key, values)
		}
		m := valueMatch(values[0], strings.Join(values[1:], " "))
		if key == "query" {
			return func(r *proxy.Route) { r.Query = append(slices.Clip(r.Query), m) }, nil
		}
		m.Name = field.Canonical(m.Name)
		return func(r *proxy.Route) { r.Fields = append(slices.Clip(r.Fields), m) }, nil
	}
	return nil, fmt.Errorf("set route: unknown %q", key)
}

// pageChange is routeChange for pages of errors, in HTML.
func pageChange(key string, values []string) (func(*proxy.Route), error) {
	status, err := 0, error(nil)
	if key == "page" {
		status, err = strconv.Atoi(values[0])
	}
	return func(r *proxy.Route) {
		pages := proxy.ErrorPages{ByStatus: map[int]*proxy.ErrorPage{}, ByClass: map[int]*proxy.ErrorPage{}}
		if old := r.ErrorPages; old != nil {
			pages.Intercept = old.Intercept
			maps.Copy(pages.ByStatus, old.ByStatus)
			maps.Copy(pages.ByClass, old.ByClass)
		}
		page := &proxy.ErrorPage{Type: "text/html; charset=utf-8", Body: []byte(strings.Join(values[1:], " "))}
		switch {
		case key == "intercept":
			pages.Intercept = values[0] == "on"
		case status < 10:
			pages.ByClass[status] = page
		default:
			pages.ByStatus[status] = page
		}
		r.ErrorPages = &pages
	}, err
}

// users are those of a file, with the weakest hashes that it may have.
func users(pairs []string) (*basicauth.Users, error) {
	var file []byte
	for _, pair := range pairs {
		name, password, _ := strings.Cut(pair, ":")
		hash, err := bcrypt.GenerateFromPassword([]byte(password), 5)
		if err != nil {
			return nil, err
		}
		file = fmt.Appendf(file, "%s:%s\n", name, hash)
	}
	return basicauth.Parse(file)
}

func valueMatch(name, value string) routing.ValueMatch {
	m := routing.ValueMatch{Name: name}
	m.Value = []byte(strings.Trim(value, "*"))
	m.AnyBefore, m.AnyBehind = strings.HasPrefix(value, "*"), strings.HasSuffix(value, "*")
	return m
}

// answerChange is routeChange for who may use a route, and for what it answers itself.
func answerChange(key string, values []string) (func(*proxy.Route), error) {
	var networks []netip.Prefix
	switch key {
	case "allow", "deny":
		for _, text := range values {
			n, err := netip.ParsePrefix(text)
			if err != nil {
				return nil, err
			}
			networks = append(networks, n)
		}
		return func(r *proxy.Route) {
			if key == "allow" {
				r.Access.Allow = networks
			} else {
				r.Access.Deny = networks
			}
		}, nil
	}
	status, err := strconv.Atoi(values[0])
	if err != nil {
		return nil, err
	}
	a := &proxy.OwnAnswer{Status: status}
	rest := strings.Join(values[1:], " ")
	if key == "redirect" {
		a.Location, err = template.ParseLocation(rest)
	} else {
		a.Body = []byte(rest)
	}
	return func(r *proxy.Route) { r.Answer, r.Origin = a, nil }, err
}
