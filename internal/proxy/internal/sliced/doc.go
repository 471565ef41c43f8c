// Package sliced reads a representation that is kept and fetched in slices of one size.
//
// It answers one question: which slice comes next, and does it belong to the same
// representation as those before? A Reader gives the bytes of one answer. It asks a Source for
// one slice after the other, as its client takes them, so no more than one is open at a time.
//
// A client must not get bytes of two representations in one body. So each slice has to have
// the size and the strong validator of the slice that the answer has begun with (RFC 9110
// section 8.8.1). Where one differs, the newer response says what the representation is now. An
// older stored slice is forgotten and fetched again. If the answer has begun with the older
// one, that is forgotten, and the answer ends by ErrChanged.
//
// The package knows neither requests nor keys, and not how a slice is stored or fetched.
package sliced
