package proxy

import (
	"slices"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/field"
	"edgeproxy/internal/http/rfc9111"
)

// This file keeps a stored or shared response from clients that could not read it: its content coding is one that they refuse, and
// its Vary does not say that Accept-Encoding selects it. Such a client gets a fetch of its own, which is not stored. In place of the
// stored response it would be the one that all others get, and any client could so take the coding from them.

// refusesCoding reports whether x's client refuses one of the codings of a Content-Encoding. A route that writes
// Accept-Encoding itself decides for its clients.
func (x *exchange) refusesCoding(contentEncoding string) bool {
	if x.route.Request.Value(acceptEncoding) != nil {
		return false
	}
	return !rfc9111.AcceptsCodings(x.clientLines(acceptEncoding), contentEncoding)
}

// refusesStored is refusesCoding for what is stored. Of most responses it has to ask nothing.
func (x *exchange) refusesStored(e *cache.Object) bool {
	if !e.Coded() {
		return false
	}
	contentEncoding, _ := e.Header().Get("Content-Encoding")
	return x.refusesCoding(contentEncoding)
}

// refusesShared is refusesCoding for what a flight has brought for another client.
func (x *exchange) refusesShared(h *outcome) bool {
	switch {
	case h.held != nil:
		return x.refusesStored(h.held)
	case h.coding == "":
		return false
	}
	return x.refusesCoding(h.coding)
}

// codingNotInVary returns the Content-Encoding of a response that Accept-Encoding does not select; else "".
func codingNotInVary(header field.List, vary []string) string {
	if slices.Contains(vary, acceptEncoding) {
		return ""
	}
	contentEncoding, _ := header.Get("Content-Encoding")
	return contentEncoding
}

// namesDictionary reports whether the origin is told of one dictionary that the client has (RFC 9842), so that the codings that
// need it may be asked for. Vary of a response that uses it names the field, and VaryNames makes sure of that.
func (x *exchange) namesDictionary() bool {
	const name = "Available-Dictionary"
	if x.route.Request.Value(name) != nil {
		return false
	}
	var value []byte
	for i := range x.fields {
		if sameName(x.fields[i].Name, name) {
			if value != nil {
				return false
			}
			value = x.fields[i].Value
		}
	}
	return rfc9111.Dictionary(value) && !(x.asks.connectionNames && x.namedByConnection(name)) && !x.notForwarded(name)
}
