package main

import (
	"log/slog"

	"edgeproxy/config"
	"edgeproxy/internal/balance"
	"edgeproxy/internal/dial"
	"edgeproxy/internal/origin"
)

// buildOrigins returns the origins by their names, and what they get as Host where
// that is neither the client's nor a matter of the server.
func (e *edge) buildOrigins() (byName map[string]*origin.Origin, hostOf map[string]string, err error) {
	e.dialer = dial.New(dial.Options{Panics: e.panics})
	metrics := origin.NewMetrics(e.registry)
	byName, hostOf = map[string]*origin.Origin{}, map[string]string{}
	for i := range e.config.Origins {
		c := &e.config.Origins[i]
		options, err := originOptions(e.config, c)
		if err != nil {
			return nil, nil, err
		}
		options.Metrics, options.Panics, options.Dial, options.DialFailed = metrics, e.panics, e.dialer.Dial, e.dialer.Failed
		options.OnChange = func(change origin.Change) { e.serverChanged(c.Name, change) }
		o, err := origin.New(options)
		if err != nil {
			return nil, nil, err
		}
		e.origins = append(e.origins, o)
		byName[c.Name] = o
		if c.HostHeader != config.HostClient && c.HostHeader != config.HostServer {
			hostOf[c.Name] = c.HostHeader
		}
	}
	return byName, hostOf, nil
}

func originOptions(c *config.Config, o *config.Origin) (origin.Options, error) {
	servers, faults := originServers(c, o)
	if len(faults) > 0 {
		return origin.Options{}, faults
	}
	options := origin.Options{
		Name: o.Name, Servers: servers,
		ConnectTimeout: o.ConnectTimeout, FirstByteTimeout: o.FirstByteTimeout, IdleTimeout: o.IdleTimeout,
		MaxConnections: o.MaxConnections, QueueRequests: o.Queue.Requests, QueueWait: o.Queue.Wait, ClientShare: c.Limits.OriginShare,
		Ejection: balance.Ejection{
			Failures: o.Ejection.Failures, Ratio: o.Ejection.FailureRatio,
			Window: o.Ejection.Window, Requests: o.Ejection.MinRequests, Targets: o.Ejection.MinTargets,
			Backoff: o.Ejection.Backoff, MaxBackoff: o.Ejection.MaxBackoff,
			Refuse: o.Ejection.AllEjected == config.AllRefused,
		},
		Health: origin.Health{
			Path: o.Health.Path, Interval: o.Health.Interval, Timeout: o.Health.Timeout,
			Healthy: o.Health.Healthy, Unhealthy: o.Health.Unhealthy, From: o.Health.Status.From, To: o.Health.Status.To,
		},
	}
	if o.Balance == config.LeastConnections {
		options.Balance = balance.LeastConnections
	}
	if o.HostHeader != config.HostClient && o.HostHeader != config.HostServer {
		options.Health.Host = o.HostHeader
	}
	return options, nil
}

func originServers(c *config.Config, o *config.Origin) ([]origin.Server, config.Errors) {
	settings, faults := originTLS(c, o)
	var out []origin.Server
	for _, s := range o.Servers {
		server := origin.Server{Address: s.Address, Weight: s.Weight}
		if s.TLS {
			server.TLS = settings
		}
		if o.HostHeader == config.HostServer {
			server.Host = s.Host
		}
		out = append(out, server)
	}
	return out, faults
}

// serverChanged tells the log of a server that is taken out or brought back. One that was
// both ejected and down comes back in two steps, and the first is no new failure.
func (e *edge) serverChanged(name string, c origin.Change) {
	args := []any{"origin", name, "server", c.Server, "state", c.State.String()}
	if c.State == balance.Up {
		e.log.Info("origin server is back", args...)
		return
	}
	if c.Err == nil {
		e.log.Info("origin server is still out", args...)
		return
	}
	e.log.Warn("origin server is out", append(args, slog.Any("error", c.Err))...)
}

// originStatus is one origin.
type originStatus struct {
	Name    string         `json:"name"`
	Waiting int            `json:"queue_requests"`
	Servers []serverStatus `json:"servers"`
}

type serverStatus struct {
	Address    string  `json:"address"`
	State      string  `json:"state"`               // up, ejected, down
	EjectedFor float64 `json:"ejected_for_seconds"` // until its next trial
	Weight     int     `json:"weight"`
	Active     int     `json:"active_connections"`
	Idle       int     `json:"idle_connections"`
	Upgraded   int     `json:"upgraded_connections"`
}

func statusOfOrigin(s origin.Stats) originStatus {
	out := originStatus{Name: s.Name, Waiting: s.Waiting}
	for _, v := range s.Servers {
		out.Servers = append(out.Servers, serverStatus{
			Address: v.Address, State: v.State.String(), EjectedFor: v.EjectedFor.Seconds(), Weight: v.Weight, Active: v.Active, Idle: v.Idle,
			Upgraded: v.Upgraded,
		})
	}
	return out
}
