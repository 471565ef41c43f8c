// Package readahead reads the bodies of responses ahead of clients that are slow to take them.
//
// It answers one question: when does a response no longer wait for its client? A response that cannot be stored is copied by
// the goroutine that serves the client, at the client's pace. Once the client has kept it waiting for 250 ms in all,
// another goroutine reads ahead, into a flight.Stream: memory, and then disk, within their budgets. So the connection to the
// origin is free as soon as the body has arrived, however slow the client is.
//
// The laws: a client that is not slow costs no goroutine and no timer of its own. When the budgets are used up, reading waits
// for the client; nothing is dropped. A panic ends the one body.
//
// The package knows no requests and no origins, and sends nothing. It takes the time from a function that is handed
// over. The Stream decides how much is read ahead.
package readahead
