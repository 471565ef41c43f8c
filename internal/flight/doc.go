// Package flight makes simultaneous requests for one key share one fetch.
//
// It answers one question: is somebody fetching this already, and may I read
// along? The first to ask leads, the others follow; all of them read the body
// while it arrives. A flight ends by name (see Outcome) and its followers act on
// the name.
//
// The laws:
//   - One flight per key takes followers at a time. Those that are led for one header, one
//     after the other while none has it, are a round: who waits for one waits for all, and
//     gets the first.
//   - A follower waits for the header with a limit, and never for a body that it
//     will not get.
//   - A body is kept whole only while it fits the object limit and the budget
//     that all flights share. Beyond either, the flight takes no more followers,
//     will not be stored, and goes on through a window.
//   - The writer waits for the fastest reader alone, and for none where the body is to be
//     stored. Who lags further than the window is left behind, and learns it (ErrBehind).
//   - Memory is first for what will be stored. That is reserved before the header is
//     published, taken back from bodies that nobody has admitted if need be, and released
//     when the store has the body.
//   - A reader that leaves ends the fetch only if nobody else reads and nobody
//     will store.
//   - The last bytes reach no reader before the store has them, so whoever asks
//     again after a whole body finds it stored.
//
// The package knows no HTTP, reads no clock but the one it is given, and does not
// decide what is stored: it only keeps the answers together (admitted, storable,
// purged) until the body is whole.
package flight
