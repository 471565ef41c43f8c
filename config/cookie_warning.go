package config

import (
	"slices"
	"strings"

	"edgeproxy/internal/route/setting"
)

// warnOfCookies warns of lifetimes that do not apply to requests with cookies, where no setting says which cookies matter, and of
// strip_cookies that cannot remove a cookie because the settings for all routes name it.
func (c *Config) warnOfCookies(warn func(path, text string)) {
	warned := map[string]bool{}
	for i := range c.Routes {
		r := &c.Routes[i]
		if r.AnswersItself() || !r.Cache.Enabled {
			continue
		}
		own := child(c.Routes[i].path, "cache")
		c.warnOfKeptCookies(own, &r.Cache, warn)
		if at := c.lifetimeSetting(own, &r.Cache); at != "" && len(r.Cache.StripCookies)+len(r.Cache.KeepCookies) == 0 && !warned[at] {
			warned[at] = true
			warn(at, "does not apply to a request with "+otherCookie(&r.Cache)+", so its response is not stored (request-cookie): needs keep_cookies, with the cookies "+
				"that the origin needs, or [\"*\"] to leave it so")
		}
	}
}

// otherCookie says which cookies keep lifetimes of c from applying.
func otherCookie(c *setting.Caching) string {
	if names := c.Key.Cookies; len(names) > 0 {
		return "a cookie other than " + strings.Join(names, ", ")
	}
	return "a cookie"
}

// lifetimeSetting returns where the first setting stands that gives responses a lifetime, in the cache section of a route at own or in
// that for all routes; "" if none does.
func (c *Config) lifetimeSetting(own string, cache *setting.Caching) string {
	for _, s := range []struct {
		key   string
		given bool
	}{{"default_ttl", cache.DefaultTTL > 0}, {"force_ttl", cache.ForcedTTL > 0}} {
		switch {
		case !s.given:
		case c.src.given(child(own, s.key)):
			return child(own, s.key)
		default:
			return child("cache", s.key)
		}
	}
	return ""
}

// warnOfKeptCookies warns of strip_cookies of the route whose cache section is at own, where it covers a cookie of bypass.cookies or
// key.cookies for all routes: that one stays.
func (c *Config) warnOfKeptCookies(own string, cache *setting.Caching, warn func(path, text string)) {
	at := child(own, "strip_cookies")
	if !c.src.given(at) {
		return
	}
	for _, rule := range []struct {
		section string
		names   []string
	}{{"bypass", cache.Bypass.Cookies}, {"key", cache.Key.Cookies}} {
		if c.src.given(descendant(own, rule.section+".cookies")) {
			continue
		}
		if i := slices.IndexFunc(rule.names, func(name string) bool { return coversCookie(cache.StripCookies, name) }); i >= 0 {
			warn(at, "does not remove "+rule.names[i]+", which cache."+rule.section+".cookies names for all routes: needs "+rule.section+": {cookies: []} in this route to remove it")
		}
	}
}

// coversCookie reports whether every cookie of the pattern matches one of the names.
func coversCookie(names []string, pattern string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		start, open := strings.CutSuffix(name, "*")
		return name == pattern || open && strings.HasPrefix(strings.TrimSuffix(pattern, "*"), start)
	})
}
