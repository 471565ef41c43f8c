// Package flight makes simultaneous requests for one key share one fetch.
//
// It answers one question: is somebody fetching this already, and may I read
// along? A flight is one fetch with its readers. The request that begins it is its leader,
// requests that join it are its followers. All of them read the body while it arrives. Each
// reader has a seat: its place in the body. A flight ends by name (see Outcome) and its
// followers act on the name.
//
// A request admits a response when it asks that the response be stored. A body is kept whole
// while all of it stays in memory. A body that is not kept whole goes through a window: only its
// newest pieces stay in memory, and older ones are dropped or, where there is a spool, written to
// disk.
//
// The laws:
//   - One flight per key takes followers at a time. While it has no header, a follower may
//     lead another flight for the key beside it. Such flights are a round: a reader of one
//     waits for all of them, and gets the first header.
//   - A follower waits for the header with a limit, and never for a body that it
//     will not get.
//   - A body is kept whole only while it fits the object limit and the budget
//     that all flights share. Beyond either, the flight takes no more followers,
//     will not be stored, and goes on through a window.
//   - The fetch waits for its fastest reader, for a slower one only for a short time (grace), and
//     for none if the body is to be stored. A reader that lags further than the window is left
//     behind, and gets ErrBehind.
//   - Bodies that will be stored get memory first. It is reserved before the header is
//     published. If it is lacking, it is taken back from bodies that nobody has admitted. It
//     is released when the store has the body.
//   - A reader that leaves ends the fetch only if nobody else reads and nobody
//     will store.
//   - The last bytes reach no reader before the store has them. So a client that has the
//     whole body and asks again finds it stored.
//
// The package knows no HTTP, reads no clock but the one it is given, and does not
// decide what is stored: it only keeps the answers together (admitted, storable,
// purged) until the body is whole.
package flight
