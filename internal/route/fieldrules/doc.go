// Package fieldrules has the operator's rules for header fields of messages: remove these, and set those to a value.
//
// It answers one question: which fields does a message about this URL, and to or from this client, have by these rules?
//
// There are rules for four kinds of messages (ForRequests, ForResponses, ForAnswers, ForGenerated). The values are those of
// internal/http/field, or have placeholders (internal/route/template). Lines are the fields of answers that the proxy makes itself, prepared
// once and written many times.
//
// The laws:
//
//   - A rule that would contradict what the proxy says itself, or would mislead a cache, is refused when it is read.
//   - Rules that apply before a response is stored may not depend on the client, since all clients get the result.
//   - Cache keys have the template, not the filled value. A value made of the URL is the same for one URL. A field made of
//     the client (Unselectable) never selects a stored response.
//   - An error is about one client or one moment. So error texts and error pages never have a field about how long they may
//     be kept (AboutLifetime).
//
// The package knows no requests and no routes. All it makes is immutable once it is made, and safe for concurrent use.
package fieldrules
