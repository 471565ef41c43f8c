// Package supervisor notifies the program that started this one of its state, by the
// protocol sd_notify(3) of systemd: ready, reloading, stopping, and alive.
//
// It answers one question: what does the supervisor know of this process?
//
// The supervisor gives the address of a socket in NOTIFY_SOCKET, and in WATCHDOG_USEC the
// longest time between two notifications that the process lives. Without them every method
// does nothing. A notification that cannot be sent is lost: a request never waits for the
// supervisor.
package supervisor
