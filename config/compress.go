package config

import (
	"path"
	"slices"
	"strings"
)

// Compress says which responses of origins are compressed, and how.
type Compress struct {
	Codings  []Coding // in the order of preference; none compresses nothing
	Types    []string // media types, of which text/* is all of text
	MinBytes Size     // a shorter response stays as it is
	Level    CompressLevel
}

// Coding is a content coding, as Content-Encoding names it.
type Coding string

// The values of compress.codings.
const (
	CodingGzip   Coding = "gzip"
	CodingBrotli Coding = "br"
	CodingZstd   Coding = "zstd"
)

// CompressLevel is a value of compress.level.
type CompressLevel string

// The values of CompressLevel.
const (
	CompressFastest CompressLevel = "fastest"
	CompressDefault CompressLevel = "default"
	CompressBetter  CompressLevel = "better"
)

// usualTypes are of texts, and of what else is usually sent without a coding and gets much shorter by one.
func usualTypes() []string {
	return []string{
		"text/*", "application/javascript", "application/json", "application/ld+json", "application/manifest+json", "application/xml",
		"application/xhtml+xml", "application/rss+xml", "application/atom+xml", "application/wasm", "image/svg+xml", "font/ttf", "font/otf",
	}
}

func (c *Compress) table() table {
	types := texts(&c.Types, "media types", "want a list of media types, such as [text/*, application/json]")
	types.usual = usualTypes()
	return table{
		live("codings", list(&c.Codings, nil, "codings", "want a list of codings, such as [zstd, br, gzip]", func(f *Coding) *scalar[Coding] {
			return words(f, CodingGzip, CodingGzip, CodingBrotli, CodingZstd)
		}), "gzip, br and zstd; a client gets the first of the list that it accepts. An empty list compresses nothing.").such("[zstd, br, gzip]"),
		live("types", types, "The types that are compressed; text/* is every text type except text/event-stream."),
		live("min_bytes", size(&c.MinBytes, KiB).atLeast(1), "A response that is known to be shorter is not compressed."),
		live("level", words(&c.Level, CompressDefault, CompressFastest, CompressDefault, CompressBetter), "The compression level; a response is compressed once for each fetch."),
	}
}

// compress returns the rules of a route whose compress section is at path and holds own. Keys that the section lacks are those
// of all routes.
func (c *Config) compress(src *source, path string, own *Compress) Compress {
	out := c.Compress
	out.table().overlay(own.table(), src, path)
	return out
}

// compression checks the compress sections.
func (v *validator) compression() {
	v.compress("compress", &v.c.Compress)
	used := false
	for i := range v.c.Routes {
		r := &v.c.Routes[i]
		route := item("routes", i)
		at := child(route, "compress")
		v.compress(at, &r.ownCompress)
		if r.AnswersItself() {
			if v.src.given(at) && v.sound(at) {
				v.add(at, "", "want no such section beside redirect or respond: no origin is asked")
			}
			continue
		}
		used = used || len(r.Compress.Codings) > 0
		v.compressedRoute(route, r)
	}
	v.idleCompress("compress", &v.c.Compress, used || len(v.c.Routes) == 0)
}

// compressedRoute checks what a route may not have beside codings.
func (v *validator) compressedRoute(route string, r *Route) {
	at := child(route, "compress")
	if v.idleCompress(at, &r.ownCompress, len(r.Compress.Codings) > 0); len(r.Compress.Codings) == 0 {
		return
	}
	if !v.src.given(child(at, "codings")) {
		at = "compress"
	}
	if !v.sound(child(at, "codings")) {
		return
	}
	slice := below(route, "cache.slice")
	if !v.src.given(slice) {
		slice = "cache.slice"
	}
	if r.Cache.Slice > 0 && v.sound(slice) {
		v.fail(child(at, "codings"), "want none where "+slice+" is not 0B: a slice has to be of bytes that the origin knows")
	}
	v.negotiates(route, r)
}

// negotiates checks that what clients accept reaches the origin, and so the proxy, as they say it.
func (v *validator) negotiates(route string, r *Route) {
	const field, rules = "Accept-Encoding", "headers.request."
	top := v.c.Headers.Request
	for i, name := range r.Headers.Request.Remove { // those of the route come first
		at := item(below(route, rules+"remove"), i)
		if !v.src.given(at) {
			at = item(rules+"remove", slices.Index(top.Remove, name))
		}
		if removes(name, field) && v.sound(at) {
			v.fail(at, "want "+field+" to stay, or no compress.codings for the route: what reaches the origin says which coding a client gets")
		}
	}
	for name := range r.Headers.Request.Set {
		at := child(below(route, rules+"set"), name)
		if !v.src.given(at) {
			at = child(rules+"set", name)
		}
		if strings.EqualFold(name, field) && v.sound(at) {
			v.fail(at, "want no "+field+", or no compress.codings for the route: clients would get a coding that they do not take")
		}
	}
}

// idleCompress refuses what is said of how something is compressed where nothing is: who wrote it expects something of it.
func (v *validator) idleCompress(at string, c *Compress, used bool) {
	usual := withDefaults((*Compress).table)
	said := map[string]bool{"types": !slices.Equal(c.Types, usual.Types), "min_bytes": c.MinBytes != usual.MinBytes, "level": c.Level != usual.Level}
	for key, unusual := range said {
		if path := child(at, key); !used && unusual && v.src.given(path) && v.sound(path, child(at, "codings"), "compress.codings") {
			v.fail(path, "want codings beside it, such as [zstd, br, gzip]: without them nothing is compressed")
		}
	}
}

// compress checks one section.
func (v *validator) compress(at string, c *Compress) {
	for i, coding := range c.Codings {
		if path := item(child(at, "codings"), i); slices.Contains(c.Codings[:i], coding) && v.sound(path) {
			v.fail(path, "want each coding once")
		}
	}
	for i, t := range c.Types {
		path := item(child(at, "types"), i)
		switch {
		case !v.src.given(path) || !v.sound(path):
		case strings.EqualFold(t, "text/event-stream"):
			v.fail(path, "want no text/event-stream: events are never compressed")
		case !mediaType(t):
			v.fail(path, "want a media type without parameters, such as application/json, or text/* for all of a kind")
		}
	}
}

// mediaType reports whether text is one, or a kind of them.
func mediaType(text string) bool {
	kind, name := path.Split(text)
	kind, slash := strings.CutSuffix(kind, "/")
	token := func(s string) bool { return s != "" && !strings.ContainsFunc(s, notToken) }
	return slash && token(kind) && (name == "*" || token(name))
}
