package edge

import (
	"context"
	"fmt"
	"net/http"

	"edgeproxy/internal/edge/internal/supervisor"
	"edgeproxy/internal/ops/admin"
)

// findSupervisor finds the supervisor that wants notifications, by the environment (NOTIFY_SOCKET).
func (e *Edge) findSupervisor() {
	var err error
	if e.supervisor, err = supervisor.FromEnvironment(); err != nil {
		e.log.Warn("the supervisor is not notified", "error", err)
	}
}

// NotifyReady notifies the supervisor that requests are served, and starts the watchdog notifications. It is called once,
// after Start. Without Options.Supervised, or without a supervisor, it does nothing.
func (e *Edge) NotifyReady() {
	e.logNotifyError(e.supervisor.Ready("serving"))
	e.supervisor.Watch(e.alive, func(err error) { e.log.Warn("the watchdog was not notified", "error", err) }, e.panics)
}

// logNotifyError logs the error of a notification; nil is no error.
func (e *Edge) logNotifyError(err error) {
	if err != nil {
		e.log.Warn("the supervisor was not notified", "error", err)
	}
}

// alive checks that the admin listener accepts a connection and answers /livez. During shutdown, which has
// time limits of its own, it always succeeds.
func (e *Edge) alive(ctx context.Context) error {
	if e.draining.Load() {
		return nil
	}
	at := e.control[0].listener.Addr()
	address := at.String()
	if at.Network() == "unix" {
		address = socketPrefix + address
	}
	res, err := admin.Ask(ctx, address, http.MethodGet, "/livez", "", nil)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the status is the answer
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: /livez: %d", address, res.StatusCode)
	}
	return nil
}
