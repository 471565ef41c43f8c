// Package compress encodes responses that the origin sent without a content coding.
//
// It answers: is this response to be compressed, by which coding, and what becomes of its head and of its body?
//
// Rules are those of a route. Choose looks at a request as the origin has it and at the head of the response. Encoded gives
// the head that the origin would have sent with the coding (RFC 9110 section 8.4), Varying one that says that other codings
// bring other bytes (section 12.5.5), Confirmed that of a 304. Reader encodes the body as it comes.
//
// The laws:
//   - What is not known to be wanted is not changed: a response that has a coding, is a part, is for a client that does
//     not take the coding, or must not be transformed.
//   - A body that is cut ends in its error. The end of a coding is written behind the end of the body and nowhere else.
//   - Bytes do not wait: when the origin pauses, the client has all that was read.
//   - Memory is bounded, whatever the length of the body: an encoder with its window, one buffer of what is read, one of what
//     came of it.
//
// It does not decode, knows no cache, no sockets and no clock.
package compress
