package main

import (
	"context"
	"fmt"
	"net/http"

	"edgeproxy/internal/supervisor"
)

// findSupervisor finds out who wants to know how the process is.
func (e *edge) findSupervisor() {
	var err error
	if e.supervisor, err = supervisor.FromEnvironment(); err != nil {
		e.log.Warn("the supervisor is told nothing", "error", err)
	}
}

// notifyReady says that requests are served, and begins to say that the process lives.
func (e *edge) notifyReady() {
	e.logNotifyError(e.supervisor.Ready("serving"))
	e.supervisor.Watch(e.alive, func(err error) { e.log.Warn("the supervisor was not told that the process lives", "error", err) }, e.panics)
}

// logNotifyError logs what the supervisor could not be told.
func (e *edge) logNotifyError(err error) {
	if err != nil {
		e.log.Warn("the supervisor was not told", "error", err)
	}
}

// alive asks the admin listener as an operator would: somebody accepts, and answers. While the
// process stops, which has limits of its own, nobody does.
func (e *edge) alive(ctx context.Context) error {
	if e.draining.Load() {
		return nil
	}
	at := e.control[0].listener.Addr()
	address := at.String()
	if at.Network() == "unix" {
		address = socketPrefix + address
	}
	status, _, err := call(ctx, address, http.MethodGet, "/livez", "", nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s: /livez: %d", address, status)
	}
	return err
}
