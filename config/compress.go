package config

import (
	"path"
	"slices"
	"strings"

	"edgeproxy/internal/route/setting"
)

// defaultTypes are text types, and others that are usually sent without a content coding and compress well.
func defaultTypes() []string {
	return []string{
		"text/*", "application/javascript", "application/json", "application/ld+json", "application/manifest+json", "application/xml",
		"application/xhtml+xml", "application/rss+xml", "application/atom+xml", "application/wasm", "image/svg+xml", "font/ttf", "font/otf",
	}
}

func compressTable(c *setting.Compress) table {
	types := texts(&c.Types, "media types", "must be a list of media types, such as [text/*, application/json]")
	types.byDefault = defaultTypes()
	return table{
		live("codings", list(&c.Codings, nil, "codings", "must be a list of codings, such as [zstd, br, gzip]", func(f *setting.Coding) *scalar[setting.Coding] {
			return enum(f, setting.Gzip, setting.Gzip, setting.Brotli, setting.Zstd)
		}), "gzip, br and zstd; a client gets the first of the list that it accepts. An empty list compresses nothing.").withExample("[zstd, br, gzip]"),
		live("types", types, "The types that are compressed; text/* is every text type except text/event-stream."),
		live("min_bytes", size((*Size)(&c.MinBytes), KiB).atLeast(1), "A response that is known to be shorter is not compressed."),
		live("level", enum(&c.Level, setting.LevelDefault, setting.LevelFastest, setting.LevelDefault, setting.LevelBetter), "The compression level; a response is compressed once for each fetch."),
	}
}

// compress returns the compression settings of a route. Its compress section is at path and holds own. Keys that the section
// lacks have the values for all routes.
func (c *Config) compress(src *source, path string, own *setting.Compress) setting.Compress {
	return overlaid(c.Compress, own, compressTable, src, path)
}

// compression checks the compress sections.
func (v *validator) compression() {
	v.compress("compress", &v.c.Compress)
	used := false
	for i := range v.c.Routes {
		r := &v.c.Routes[i]
		route := v.c.Routes[i].path
		at := child(route, "compress")
		v.compress(at, &r.ownCompress)
		if r.AnswersItself() {
			if v.src.given(at) && v.noErrorAt(at) {
				v.addError(at, "", "remove the section: a route with redirect or respond asks no origin")
			}
			continue
		}
		used = used || len(r.Compress.Codings) > 0
		v.routeWithCodings(route, r)
	}
	v.unusedCompressKeys("compress", &v.c.Compress, used || len(v.c.Routes) == 0)
}

// routeWithCodings checks settings of a route that exclude codings.
func (v *validator) routeWithCodings(route string, r *Route) {
	at := child(route, "compress")
	if v.unusedCompressKeys(at, &r.ownCompress, len(r.Compress.Codings) > 0); len(r.Compress.Codings) == 0 {
		return
	}
	codings := v.src.firstGiven(child(at, "codings"), "compress.codings")
	if !v.noErrorAt(codings) {
		return
	}
	slice := v.src.firstGiven(descendant(route, "cache.slice"), "cache.slice")
	if r.Cache.SliceBytes > 0 && v.noErrorAt(slice) {
		v.fail(codings, "must have no codings where "+slice+" is not 0B: slices are byte ranges of the origin's response, which cannot be compressed")
	}
	v.keepsAcceptEncoding(route, r)
}

// keepsAcceptEncoding checks that no rule changes Accept-Encoding: the proxy selects the coding by it.
func (v *validator) keepsAcceptEncoding(route string, r *Route) {
	const field, rules = "Accept-Encoding", "headers.request."
	top := v.c.Headers.Request
	for i, name := range r.Headers.Request.Remove { // names of the route come first
		at := v.src.firstGiven(item(descendant(route, rules+"remove"), i), item(rules+"remove", slices.Index(top.Remove, name)))
		if removes(name, field) && v.noErrorAt(at) {
			v.fail(at, "needs "+field+" to stay, or no compress.codings for the route: the value that reaches the origin selects the coding that a client gets")
		}
	}
	v.namesAcceptEncoding(route, r)
	for name := range r.Headers.Request.Set {
		at := v.src.firstGiven(child(descendant(route, rules+"set"), name), child(rules+"set", name))
		if strings.EqualFold(name, field) && v.noErrorAt(at) {
			v.fail(at, "must have no "+field+", or no compress.codings for the route: clients would get a coding that they do not accept")
		}
	}
}

// unusedCompressKeys refuses settings of compression where nothing is compressed: the operator expects an effect.
func (v *validator) unusedCompressKeys(at string, c *setting.Compress, used bool) {
	defaults := withDefaults(compressTable)
	said := map[string]bool{"types": !slices.Equal(c.Types, defaults.Types), "min_bytes": c.MinBytes != defaults.MinBytes, "level": c.Level != defaults.Level}
	for key, unusual := range said {
		if path := child(at, key); !used && unusual && v.src.given(path) && v.noErrorAt(path, child(at, "codings"), "compress.codings") {
			v.fail(path, "needs codings as well, such as [zstd, br, gzip]: without them nothing is compressed")
		}
	}
}

// compress checks one section.
func (v *validator) compress(at string, c *setting.Compress) {
	for i, coding := range c.Codings {
		if path := item(child(at, "codings"), i); slices.Contains(c.Codings[:i], coding) && v.noErrorAt(path) {
			v.fail(path, "each coding must be listed once")
		}
	}
	if path := child(at, "types"); len(c.Types) == 0 && v.src.given(path) && v.noErrorAt(path) {
		v.fail(path, "must be at least one media type: with none nothing is compressed")
	}
	for i, t := range c.Types {
		path := item(child(at, "types"), i)
		switch {
		case !v.src.given(path) || !v.noErrorAt(path):
		case strings.EqualFold(t, "text/event-stream"):
			v.fail(path, "must have no text/event-stream: events are never compressed")
		case !mediaType(t):
			v.fail(path, "must be a media type without parameters, such as application/json, or text/* for all of a kind")
		}
	}
}

// mediaType reports whether text is a media type without parameters, or TYPE/*.
func mediaType(text string) bool {
	kind, name := path.Split(text)
	kind, slash := strings.CutSuffix(kind, "/")
	token := func(s string) bool { return s != "" && !strings.ContainsFunc(s, notToken) }
	return slash && token(kind) && (name == "*" || token(name))
}

// namesAcceptEncoding checks that Accept-Encoding is among the only fields, if the route has such a list.
func (v *validator) namesAcceptEncoding(route string, r *Route) {
	const field, path = "Accept-Encoding", "headers.request.only"
	only := r.Headers.Request.Only
	if len(only) == 0 || slices.ContainsFunc(only, func(of string) bool { return removes(of, field) }) {
		return
	}
	if at := v.src.firstGiven(descendant(route, path), path); v.noErrorAt(at) {
		v.fail(at, "needs "+field+" among them, or no compress.codings for the route: the value that reaches the origin selects the coding that a client gets")
	}
}
