package main

import (
	"edgeproxy/config"
	"edgeproxy/internal/dial"
	"edgeproxy/internal/origin"
)

// buildOrigins returns the origins by their names, and what they get as Host
// where that is not the client's.
func (e *edge) buildOrigins() (byName map[string]*origin.Origin, hostOf map[string]string, err error) {
	e.dialer = dial.New(dial.Options{})
	metrics := origin.NewMetrics(e.registry)
	byName, hostOf = map[string]*origin.Origin{}, map[string]string{}
	for i := range e.config.Origins {
		c := &e.config.Origins[i]
		options, err := originOptions(e.config, c)
		if err != nil {
			return nil, nil, err
		}
		options.Metrics, options.Dial = metrics, e.dialer.Dial
		o, err := origin.New(options)
		if err != nil {
			return nil, nil, err
		}
		e.origins = append(e.origins, o)
		byName[c.Name] = o
		switch c.HostHeader {
		case config.HostClient:
		case config.HostServer:
			hostOf[c.Name] = c.Servers[0].Host
		default:
			hostOf[c.Name] = c.HostHeader
		}
	}
	return byName, hostOf, nil
}

func originOptions(c *config.Config, o *config.Origin) (origin.Options, error) {
	options := origin.Options{
		Name: o.Name, Address: o.Servers[0].Address,
		ConnectTimeout: o.ConnectTimeout, FirstByteTimeout: o.FirstByteTimeout, IdleTimeout: o.IdleTimeout,
		MaxConnections: o.MaxConnections, QueueRequests: o.Queue.Requests, QueueWait: o.Queue.Wait,
	}
	if o.Servers[0].TLS {
		t, faults := originTLS(c, o)
		if len(faults) > 0 {
			return origin.Options{}, faults
		}
		options.TLS = t
	}
	return options, nil
}
