package origin

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"edgeproxy/internal/conn/rescue"
	"edgeproxy/internal/origin/balance"
)

// Server is one server of an origin.
type Server struct {
	// Address is the host:port to dial, or unix: and the path of a socket, without TLS.
	Address string
	// TLS is how to speak TLS to it; nil means plain HTTP. It is cloned. An empty
	// ServerName means the host of Address; NextProtos is set here, and so is
	// ClientSessionCache if it is nil.
	TLS *tls.Config
	// Host is sent as Host in place of the request's; "" leaves that as it is.
	Host string
	// Weight is its share, beside those of the others. Default 1.
	Weight int
	// Backup says that it gets requests only while no other server can have them.
	Backup bool
	// Follow looks up what the server stands for until stop is called. It tells set of the members at first and whenever they change, or of
	// a lookup that failed while there are none; it may do so before it returns. Requests go to the members, and Address is only a name. Nil: the server is Address.
	Follow func(set func(members []Member, failure error)) (stop func())
	// Authority is the Host of what is asked without one, such as a health check. "" is Address.
	Authority string
}

// Settings are what the operator chooses for an Origin. A zero timeout, or MaxConnections, means its default; negative values are
// refused.
type Settings struct {
	// HTTP2 says that all servers are asked by HTTP/2 (RFC 9113) and nothing else: over TLS those that offer it, without
	// TLS as is known of them before.
	HTTP2   bool
	Balance balance.Policy
	// ReuseAfterPost says that a connection may be used again after a POST, PUT or PATCH with a body. Without it none is: the servers
	// may leave the body unread. After other methods with a body none ever is. HTTP/2 is not concerned: the frames of a stream say
	// whose body they are.
	ReuseAfterPost bool
	// Retry says which requests are sent once more. Without a Budget none is but those that a server
	// cannot have answered.
	Retry Retry
	// Ejection says when a server gets no requests for a while: when connections to it could
	// not be made, or when too many requests got no proper response head in time.
	Ejection balance.Ejection
	// Health is how servers are asked whether they are well. Without a Path they
	// are not.
	Health Health
	// ConnectTimeout bounds one dial, the TLS handshake included. Default 3s.
	ConnectTimeout time.Duration
	// FirstByteTimeout bounds the wait for a complete response head, interim
	// responses included. It runs from the start of sending, or, with a request
	// body, from its end. Default 30s.
	FirstByteTimeout time.Duration
	// IdleTimeout bounds each read of a response body and each write of a
	// request body. The whole may take any time. Default 30s.
	IdleTimeout time.Duration
	// MaxAge is how old a connection gets: no request is sent on one that is older. 0 is any age.
	MaxAge time.Duration
	// MaxConnections bounds connections of one server in use, being dialled and
	// idle together; with HTTP2, the requests under way. Default 512.
	MaxConnections int
	// QueueRequests is how many requests may wait for a connection; 0 means none
	// waits. QueueWait, then required, is how long one waits.
	QueueRequests int
	QueueWait     time.Duration
}

// Options configure an Origin. A zero KeepAlive or MaxHeaderBytes means its default; negative values of the latter are refused.
type Options struct {
	Settings
	// Name is the origin's name in the configuration: the metric label and the
	// name in errors. Several Origins may share one.
	Name string
	// Address and TLS are those of the only server, where Servers is empty.
	Address string
	TLS     *tls.Config
	// Servers are those to choose from, by Balance.
	Servers []Server
	// Before is the Origin that this one takes the place of, in use until then: servers of the same name go on with its counts. Nil: there is none.
	Before *Origin
	// Panics notes panics that end a request or a health check; nil notes none.
	Panics *rescue.Counter
	// OnChange is told when a server is taken out or brought back. It is called
	// from several goroutines, and must not wait; nil is nobody.
	OnChange func(Change)
	// Dial makes a connection; nil means a net.Dialer. It must return when its
	// context ends. Closing a connection must end a Read and a Write on it.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// DialFailed is told of the address of a server, and of the other end of a
	// connection that Dial made to it, where that was of no use: TLS could not be
	// spoken, or no proper head came in time. It must not wait; nil is nobody.
	DialFailed func(address string, at net.Addr)

	// KeepAlive is how long an unused connection is kept. An origin that sends
	// Keep-Alive: timeout=N gets N-1 seconds if that is shorter. The default,
	// 55s, stays below the 60s at which many servers and load balancers close:
	// if we close first, no request is lost to the server's closing. Below 0 each connection
	// carries one request, but not with HTTP2.
	KeepAlive time.Duration
	// Watch looks up the name of a server's Address until stop is called, and says which addresses the name does not have
	// any more. Connections to them carry no more requests. Nil: nobody looks.
	Watch func(address string, left func(netip.Addr)) (stop func())

	// OriginShare is how much of the connections of all servers that are up one client may
	// hold, or wait for, while they are scarce: the value of a client.Part. It counts requests
	// that have a Client. The default is all of them.
	OriginShare float64

	// MaxHeaderBytes bounds one response head. Default 64 KiB.
	MaxHeaderBytes int
	// Metrics may be shared by all Origins; nil counts for nobody.
	Metrics *Metrics
}

// socketPrefix begins the address of a server on a socket in the file system.
const socketPrefix = "unix:"

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
	if len(o.Servers) == 0 {
		o.Servers = []Server{{Address: o.Address, TLS: o.TLS}}
	}
	o.Servers = slices.Clone(o.Servers)
	for i := range o.Servers {
		s := &o.Servers[i]
		s.Weight = cmp.Or(s.Weight, 1)
		if s.TLS != nil {
			s.TLS = clientConfig(s.TLS, s.Address, protocolsOf(o.HTTP2))
		}
	}
	o.Health.setDefaults()
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
		errs = append(errs, errors.New("name: needs one"))
	}
	errs = append(errs, o.validateServers(), o.Health.validate(), o.Retry.validate())
	for _, d := range []struct {
		name  string
		value int64
	}{
		{"connect timeout", int64(o.ConnectTimeout)},
		{"first byte timeout", int64(o.FirstByteTimeout)},
		{"idle timeout", int64(o.IdleTimeout)},
		{"age of a connection", int64(o.MaxAge)},
		{"queue wait", int64(o.QueueWait)},
		{"maximum of connections", int64(o.MaxConnections)},
		{"queue length", int64(o.QueueRequests)},
		{"maximum of header bytes", int64(o.MaxHeaderBytes)},
		{"failures of an ejection", int64(o.Ejection.Failures)},
	} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("%s: must have no negative value", d.name))
		}
	}
	if o.QueueRequests > 0 && o.QueueWait == 0 {
		errs = append(errs, errors.New("queue wait: must be a time above 0 for a queue that has places"))
	}
	if o.HTTP2 && o.KeepAlive < 0 {
		errs = append(errs, errors.New("keep-alive: must have no negative value with HTTP2"))
	}
	return errors.Join(errs...)
}

func (o *Options) validateServers() error {
	servers := o.Servers
	if len(servers) == 0 {
		servers = []Server{{Address: o.Address}}
	} else if o.Address != "" || o.TLS != nil {
		return errors.New("address and TLS: must be none beside servers")
	}
	var errs []error
	for _, s := range servers {
		if s.Follow != nil {
			errs = append(errs, s.validateFollowed())
		} else if path, ok := strings.CutPrefix(s.Address, socketPrefix); ok {
			if path == "" || s.TLS != nil {
				errs = append(errs, fmt.Errorf("address %q: must be a path behind unix:, and no TLS", s.Address))
			}
		} else if _, _, err := net.SplitHostPort(s.Address); err != nil {
			errs = append(errs, fmt.Errorf("address %q: must be host:port: %w", s.Address, err))
		}
		if !unbroken(s.Host) {
			errs = append(errs, fmt.Errorf("host of %s: must have no space or control byte", s.Address))
		}
		if s.Weight < 0 {
			errs = append(errs, fmt.Errorf("weight of %s: must have no negative value", s.Address))
		}
	}
	errs = append(errs, o.validateEjection())
	return errors.Join(errs...)
}

func (o *Options) validateEjection() error {
	var errs []error
	if e := o.Ejection; !e.Never() && (e.Backoff <= 0 || e.MaxBackoff < e.Backoff) {
		errs = append(errs, errors.New("backoff of an ejection: must be more than 0, and at most the maximum"))
	}
	if e := o.Ejection; e.Ratio != 0 && (e.Ratio < 0 || e.Ratio > 1 || e.Window <= 0 || e.Requests <= 0 || e.Targets <= 0) {
		errs = append(errs, errors.New("ratio of an ejection: must be 0 to 1, with a window, requests and targets above 0"))
	}
	return errors.Join(errs...)
}
