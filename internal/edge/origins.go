package edge

import (
	"crypto/sha256"
	"log/slog"
	"reflect"
	"sync"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/http/statusclass"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/origin/dial"
)

// originSide is what all origins share. The origins in force are those of core.now.
type originSide struct {
	*core
	dialer  *dial.Dialer
	calls   *origin.Metrics
	setting sync.Mutex       // held while origins are replaced, and while an operator drains a server: an order beside a reload would be lost
	retired []*origin.Origin // no longer in force, but requests may still use them; only the reloader and stop touch it
}

// liveOrigin is an origin, and the settings it was built from.
type liveOrigin struct {
	config config.Origin
	files  string // a digest of the files that its tls section names
	origin *origin.Origin
}

// buildOrigins returns the origins of c. An origin of before with the same settings is reused: it
// keeps its connections and the state of its servers. After an error no new origin is left
// open.
func (og *originSide) buildOrigins(c *config.Config, before []liveOrigin) (origins []liveOrigin, err error) {
	named := make(map[string]liveOrigin, len(before)) // the origins of before by name, which is one of their settings
	for _, b := range before {
		named[b.config.Name] = b
	}
	origins = make([]liveOrigin, 0, len(c.Origins))
	for i := range c.Origins {
		o := liveOrigin{config: c.Origins[i], files: digestOf(&c.Origins[i].TLS)}
		if same, ok := named[o.config.Name]; ok && same.files == o.files && reflect.DeepEqual(same.config, o.config) {
			origins = append(origins, same)
			continue
		}
		if o.origin, err = og.newOrigin(c, &c.Origins[i], named[o.config.Name].origin); err != nil {
			closeOrigins(origins, before)
			return nil, err
		}
		origins = append(origins, o)
	}
	return origins, nil
}

// newOrigin builds the origin o. before is the one of the same name that it takes the place of, or nil.
func (og *originSide) newOrigin(c *config.Config, o *config.Origin, before *origin.Origin) (*origin.Origin, error) {
	options, err := originOptions(c, o)
	if err != nil {
		return nil, err
	}
	for i := range options.Servers {
		og.follow(o, &o.Servers[i], &options.Servers[i])
	}
	options.OriginShare = og.config.Limits.OriginShare // not live: the value of the start
	options.Metrics, options.Panics, options.Dial, options.DialFailed = og.calls, og.panics, og.dialer.Dial, og.dialer.Failed
	options.Watch, options.Before = og.dialer.Watch, before
	options.OnChange = func(change origin.Change) { og.serverChanged(o.Name, change) }
	return origin.New(options)
}

// closeOrigins closes the origins that are not in kept.
func closeOrigins(origins, kept []liveOrigin) {
	for _, o := range originsNotIn(origins, kept) {
		o.Close()
	}
}

// originsNotIn returns the origins that are not in others.
func originsNotIn(origins, others []liveOrigin) (out []*origin.Origin) {
	in := make(map[*origin.Origin]bool, len(others))
	for _, o := range others {
		in[o.origin] = true
	}
	for _, o := range origins {
		if !in[o.origin] {
			out = append(out, o.origin)
		}
	}
	return out
}

// digestOf returns a digest of the contents of the files that t names. An unreadable file counts as
// empty; originTLS reports it.
func digestOf(t *config.OriginTLS) string {
	h := sha256.New()
	for _, path := range []string{t.CA, t.Certificate, t.Key} {
		data, _ := readRegular(path)
		sum := sha256.Sum256(data)
		h.Write(sum[:])
	}
	return string(h.Sum(nil))
}

func originOptions(c *config.Config, o *config.Origin) (origin.Options, error) {
	servers, faults := originServers(c, o)
	if len(faults) > 0 {
		return origin.Options{}, faults
	}
	options := origin.Options{Name: o.Name, Servers: servers, Settings: o.Settings, KeepAlive: keepAlive(o)}
	options.Health.Host = fixedHost(o)
	return options, nil
}

// keepAlive returns origin.Options.KeepAlive, for which 0 is a default.
func keepAlive(o *config.Origin) time.Duration {
	if o.KeepaliveTimeout == 0 {
		return -1
	}
	return o.KeepaliveTimeout
}

func originServers(c *config.Config, o *config.Origin) ([]origin.Server, config.Errors) {
	settings, faults := originTLS(c, o)
	var out []origin.Server
	for _, s := range o.Servers {
		server := origin.Server{Address: s.Address, Weight: s.Weight, Backup: s.Backup}
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

// serverChanged logs that a server was taken out of use or brought back. A server that was both
// ejected and down comes back in two steps; the first is no new failure.
func (og *originSide) serverChanged(name string, c origin.Change) {
	args := []any{"origin", name, "server", c.Server, "state", c.State.String()}
	if c.State == balance.Drained { // an operator is at work on it
		if c.Err == nil {
			og.log.Info("drained origin server passes its checks", args...)
		} else {
			og.log.Info("drained origin server fails its checks", append(args, slog.Any("error", c.Err))...)
		}
		return
	}
	if c.State == balance.Up {
		og.log.Info("origin server is back", args...)
		return
	}
	if c.Err == nil {
		og.log.Info("origin server is still out", args...)
		return
	}
	og.log.Warn("origin server is out", append(args, slog.Any("error", c.Err))...)
}

// originStats returns what the origins in force do now.
func (og *originSide) originStats() (all []origin.Stats) {
	now := time.Now()
	for _, o := range og.now.Load().origins {
		all = append(all, o.origin.Stats(now))
	}
	return all
}

// OriginStatus is one origin.
type OriginStatus struct {
	Name    string         `json:"name"`
	Waiting int            `json:"queue_requests"`
	Servers []ServerStatus `json:"servers"`

	FirstByte       FirstByteStatus `json:"first_byte"`        // since the start
	FirstByteLately FirstByteStatus `json:"first_byte_lately"` // in the last lately_seconds
	ByteRateLately  float64         `json:"bytes_per_second_lately"`
}

// FirstByteStatus is the time from a request to the first byte of the origin's response. P50 and P95 are quantiles,
// estimated from the buckets of edgeproxy_origin_first_byte_seconds. All are 0 if there were no responses.
type FirstByteStatus struct {
	Responses int64   `json:"responses"`
	Mean      float64 `json:"mean_seconds"`
	P50       float64 `json:"p50_seconds"`
	P95       float64 `json:"p95_seconds"`
}

func statusOfFirstByte(f origin.FirstByte) FirstByteStatus {
	return FirstByteStatus{Responses: f.Count, Mean: f.Mean().Seconds(), P50: f.Quantile(0.5).Seconds(), P95: f.Quantile(0.95).Seconds()}
}

// ServerStatus is one server of an origin.
type ServerStatus struct {
	Address    string  `json:"address"`
	State      string  `json:"state"`               // up, ejected, down, drained
	EjectedFor float64 `json:"ejected_for_seconds"` // until its next trial
	Weight     int     `json:"weight"`
	Backup     bool    `json:"backup"`
	Active     int     `json:"active_connections"`
	Idle       int     `json:"idle_connections"`
	Upgraded   int     `json:"upgraded_connections"`
	HTTP2      int     `json:"http2_connections"` // if any, active_connections counts the requests on them

	Classes         map[string]int64 `json:"status_classes"` // responses by class; none: not answered by its own fault
	ClassesLately   map[string]int64 `json:"status_classes_lately"`
	FirstByteLately float64          `json:"first_byte_mean_seconds_lately"` // mean of the responses of status_classes_lately; 0 if there were none
	LastFailure     string           `json:"last_failure,omitempty"`         // why it gave no answer the last time that it gave none
	LastCheck       *CheckStatus     `json:"last_check,omitempty"`           // only if the origin has health checks, and there was one
}

// CheckStatus is what the last health check of a server found.
type CheckStatus struct {
	Ago     float64 `json:"seconds_ago"`
	Passed  bool    `json:"passed"`
	Failure string  `json:"failure,omitempty"`
}

func statusOfOrigin(o liveOrigin, now time.Time, since countSnapshot) OriginStatus {
	s, all := o.origin.Stats(now), o.origin.FirstByte()
	before, known := since.firstBytes[s.Name]
	if !known { // it was not there, or away: what came before is of no minute
		before = all
	}
	out := OriginStatus{Name: s.Name, Waiting: s.Waiting, Servers: []ServerStatus{}, FirstByte: statusOfFirstByte(all), FirstByteLately: statusOfFirstByte(all.Since(before))}
	if over := now.Sub(since.at).Seconds(); known && over > 0 {
		out.ByteRateLately = float64(max(o.origin.Bytes()-since.bytes[s.Name], 0)) / over
	}
	for i, key := range serverKeys(&s) {
		out.Servers = append(out.Servers, statusOfServer(&s.Servers[i], since.classes[key], since.waited[key], now))
	}
	return out
}

func statusOfServer(v *origin.ServerStats, before statusclass.Counts, waited time.Duration, now time.Time) ServerStatus {
	lately := v.Classes.Since(before)
	s := ServerStatus{
		Address: v.Address, State: v.State.String(), EjectedFor: v.EjectedFor.Seconds(), Weight: v.Weight, Backup: v.Backup, Active: v.Active, Idle: v.Idle,
		Upgraded: v.Upgraded, HTTP2: v.HTTP2, Classes: v.Classes.Map(), ClassesLately: lately.Map(),
	}
	if v.Failure != nil {
		s.LastFailure = v.Failure.Cause()
	}
	answered := int64(0)
	for class, n := range lately {
		if statusclass.Class(class) != statusclass.None { //nolint:gosec // below Count
			answered += n
		}
	}
	if took := v.Waited - waited; answered > 0 && took > 0 {
		s.FirstByteLately = took.Seconds() / float64(answered)
	}
	if !v.Check.At.IsZero() {
		s.LastCheck = &CheckStatus{Ago: max(now.Sub(v.Check.At).Seconds(), 0), Passed: v.Check.Err == nil}
		if v.Check.Err != nil {
			s.LastCheck.Failure = v.Check.Err.Error()
		}
	}
	return s
}
