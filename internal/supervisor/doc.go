// Package supervisor tells the program that started this one how it is, as sd_notify(3) of
// systemd says it: ready, reloading, stopping, and alive.
//
// It answers one question: what does the supervisor know of us?
//
// A supervisor that wants to know gives an address of a socket in NOTIFY_SOCKET, and in
// WATCHDOG_USEC how often it wants to hear that the process lives. Without them nothing is
// sent, and every method does nothing. What cannot be sent is lost: no supervisor is worth
// a request.
package supervisor
