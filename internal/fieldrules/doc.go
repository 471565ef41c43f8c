// Package fieldrules has the operator's rules for header fields of messages: remove these, and set those to a value.
//
// It answers one question: which fields does a message about this URL, and to or from this client, have by these rules?
//
// There are rules for four kinds of messages (ForRequests, ForResponses, ForAnswers, ForOwn). The values are those of
// internal/field, or have placeholders (internal/template). Lines are the fields of answers that the proxy makes itself, prepared
// once and written many times.
//
// The laws:
//
//   - A rule that would contradict what the proxy says itself, or would mislead a cache, is refused when it is read.
//   - What applies before a response is stored says nothing of one client: all clients get it.
//   - In a key, the template stands for the value. For one URL, a value without the client is the same, and by one of
//     the client nothing is selected (Unselectable).
//   - An error is about one client or one moment. So the texts and pages of errors never have a field that says for how long
//     they may be kept (AboutLifetime).
//
// The package knows no requests and no routes. All it makes is immutable once it is made, and safe for concurrent use.
package fieldrules
