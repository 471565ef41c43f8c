// Package template fills text with what is known of a request: "https://{host}{uri}".
//
// It answers one question: what does this text say of this request? Redirects, and the header fields that rules set, are
// made of such texts. The words of the placeholders are those of the access log where it has them.
//
// The laws: a text that all clients of a URL share may have placeholders of the URL alone (OfURL). What a URL cannot have is
// encoded, so no request writes a line of its own into a field. No request can make a Location lead to a host that its
// text does not name.
//
// The package knows no fields and no requests: a URL is bytes, and a Client answers two questions. A parsed text is
// immutable and safe for concurrent use. It is filled without an allocation, if there is room for it.
package template
