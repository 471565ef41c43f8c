package origin

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// Options configure an Origin. A zero duration, MaxConnections or
// MaxHeaderBytes means its default; negative values are refused.
type Options struct {
	// Name is the origin's name in the configuration: the metric label and the
	// name in errors. Several Origins may share one.
	Name string
	// Address is the host:port to dial.
	Address string
	// TLS is how to speak TLS to it; nil means plain HTTP. It is cloned. An empty
	// ServerName means the host of Address; NextProtos is set here, and so is
	// ClientSessionCache if it is nil.
	TLS *tls.Config
	// Dial makes a connection; nil means a net.Dialer. It must return when its
	// context ends. Closing a connection must end a Read and a Write on it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// ConnectTimeout bounds one dial, the TLS handshake included. Default 3s.
	ConnectTimeout time.Duration
	// FirstByteTimeout bounds the wait for a complete response head, interim
	// responses included. It runs from the start of sending, or, with a request
	// body, from its end. Default 30s.
	FirstByteTimeout time.Duration
	// IdleTimeout bounds each read of a response body and each write of a
	// request body. The whole may take any time. Default 30s.
	IdleTimeout time.Duration
	// KeepAlive is how long an unused connection is kept. An origin that sends
	// Keep-Alive: timeout=N gets N-1 seconds if that is shorter. The default,
	// 55s, stays below the 60s at which many servers and load balancers close:
	// who closes first never loses a request to the other's closing.
	KeepAlive time.Duration

	// MaxConnections bounds connections in use, being dialled and idle together.
	// Default 512.
	MaxConnections int
	// QueueRequests is how many requests may wait for a connection; 0 means none
	// waits. QueueWait, then required, is how long one waits.
	QueueRequests int
	QueueWait     time.Duration

	// MaxHeaderBytes bounds one response head. Default 64 KiB.
	MaxHeaderBytes int
	// Metrics may be shared by all Origins; nil counts for nobody.
	Metrics *Metrics
}

const (
	defaultConnectTimeout   = 3 * time.Second
	defaultFirstByteTimeout = 30 * time.Second
	defaultIdleTimeout      = 30 * time.Second
	defaultKeepAlive        = 55 * time.Second
	defaultMaxConnections   = 512
	defaultMaxHeaderBytes   = 64 << 10
)

func (o *Options) setDefaults() {
	o.ConnectTimeout = cmp.Or(o.ConnectTimeout, defaultConnectTimeout)
	o.FirstByteTimeout = cmp.Or(o.FirstByteTimeout, defaultFirstByteTimeout)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, defaultIdleTimeout)
	o.KeepAlive = cmp.Or(o.KeepAlive, defaultKeepAlive)
	o.MaxConnections = cmp.Or(o.MaxConnections, defaultMaxConnections)
	o.MaxHeaderBytes = cmp.Or(o.MaxHeaderBytes, defaultMaxHeaderBytes)
	if o.TLS != nil {
		o.TLS = clientConfig(o.TLS, o.Address)
	}
	if o.Dial == nil {
		o.Dial = new(net.Dialer).DialContext
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
}

// validate returns everything that is wrong, joined.
func (o *Options) validate() error {
	var errs []error
	if o.Name == "" {
		errs = append(errs, errors.New("name: want one"))
	}
	if _, _, err := net.SplitHostPort(o.Address); err != nil {
		errs = append(errs, fmt.Errorf("address %q: want host:port: %w", o.Address, err))
	}
	for _, d := range []struct {
		name  string
		value int64
	}{
		{"connect timeout", int64(o.ConnectTimeout)},
		{"first byte timeout", int64(o.FirstByteTimeout)},
		{"idle timeout", int64(o.IdleTimeout)},
		{"keep-alive", int64(o.KeepAlive)},
		{"queue wait", int64(o.QueueWait)},
		{"maximum of connections", int64(o.MaxConnections)},
		{"queue length", int64(o.QueueRequests)},
		{"maximum of header bytes", int64(o.MaxHeaderBytes)},
	} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("%s: want no negative value", d.name))
		}
	}
	if o.QueueRequests > 0 && o.QueueWait == 0 {
		errs = append(errs, errors.New("queue wait: want a time above 0 for a queue that has places"))
	}
	return errors.Join(errs...)
}
