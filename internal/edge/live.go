package edge

import (
	"slices"
	"time"

	"edgeproxy/config"
	"edgeproxy/internal/front/certs"
	"edgeproxy/internal/ops/admin"
	"edgeproxy/internal/ops/dashboard"
	"edgeproxy/internal/ops/sealed"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/proxy"
)

// live is what a reload replaces: everything that is built from live settings. Everything else is
// built once, from Edge.config, and changes only with a restart.
type live struct {
	config  *config.Config
	token   string        // the token of the admin listener
	purges  string        // the token of purges on the listeners for clients
	secret  sealed.Secret // secret of the fleet; the zero Secret is none
	certs   *certs.Store  // nil: no certificate files
	origins []liveOrigin
	routes  []proxy.Route
}

// buildLive builds the live state of c. It reuses the parts of before that are unchanged, and
// changes nothing that is in use. The error is a config.Errors if a setting is at fault.
func (e *Edge) buildLive(c *config.Config, before *live) (*live, error) {
	if faults := e.restartFaults(c); len(faults) > 0 {
		return nil, faults
	}
	token, err := AdminToken(c)
	if err != nil {
		return nil, err
	}
	purges, err := purgeToken(c)
	if err != nil {
		return nil, err
	}
	secret, err := fleetSecret(c)
	if err != nil {
		return nil, err
	}
	next := &live{config: c, token: token, purges: purges, secret: secret}
	if next.certs, err = e.buildCertificates(c, before); err != nil {
		return nil, err
	}
	if next.origins, err = e.buildOrigins(c, before.origins); err == nil {
		next.routes, err = routes(c, next.origins)
	}
	if err != nil {
		next.close(before)
		return nil, err
	}
	return next, nil
}

// close closes the parts of l that kept does not share.
func (l *live) close(kept *live) {
	closeOrigins(l.origins, kept.origins)
	if l.certs != nil && l.certs != kept.certs {
		l.certs.Close()
	}
}

// restartFaults returns the live settings of c that conflict with settings in force which only a restart changes.
func (e *Edge) restartFaults(c *config.Config) (faults config.Errors) {
	for _, r := range c.Routes {
		at := r.Path() + "."
		if e.gate.Supports(r.Admission) != nil {
			faults = append(faults, c.Fault(c.Given(at+"admission.policy", "admission.policy"), "needs a restart: no route had the policy "+r.Admission.Policy.String()+" at the start, and so no filter was made for it"))
		}
		if most := e.config.Cache.Memory.MaxObjectBytes; config.Size(r.Cache.SliceBytes) > most {
			faults = append(faults, c.Fault(c.Given(at+"cache.slice", "cache.slice"), "must be at most "+most.String()+", or a restart: that is cache.memory.max_object_bytes as it is in force"))
		}
	}
	if at := e.config.Admin; c.Admin.Token == "" && c.Admin.TokenFile == "" && at.Open() {
		faults = append(faults, c.Fault("admin.address", "needs a token, or a restart: the listener is at "+at.Address+" until then"))
	}
	return faults
}

// apply makes c, which was checked, the configuration in force. After an error nothing has changed.
func (e *Edge) apply(c *config.Config) error {
	err := e.replace(e.now.Load(), c)
	e.nameOrigins() // after an error too: buildLive may have added series of new origins
	return err
}

func (e *Edge) replace(before *live, c *config.Config) error {
	e.setting.Lock()
	defer e.setting.Unlock()
	next, err := e.buildLive(c, before)
	if err != nil {
		return err
	}
	use, err := e.admin.Prepare(e.adminOptions(next))
	if err == nil {
		err = e.proxy.Swap(liveOptions(next))
	}
	if err != nil {
		next.close(before)
		return err
	}
	// From here on nothing can fail.
	e.now.Store(next)
	e.store.Evict(c.Cache.Memory.Eviction, c.Cache.Memory.Optimise)
	e.gate.SetMoreThan(c.LargestMoreThan())
	e.spans.Point(c.Tracing.Target)
	use()
	for i, d := range e.listeners {
		l := listenAt(c, i, d.config)
		d.proxy.Trust(l.TrustedProxies)
		d.proxy.AnswerLivez(l.Livez)
	}
	if e.level != nil {
		e.level.Set(c.Log.Level)
	}
	e.retire(before, next)
	return nil
}

// retire retires the origins and closes the certificates that before has and next does not. Requests that
// began with before still use them.
func (e *Edge) retire(before, next *live) {
	var busy []*origin.Origin
	for _, o := range slices.Concat(e.retired, originsNotIn(before.origins, next.origins)) {
		if o.Retire(); !o.Stats(time.Now()).Quiet() {
			busy = append(busy, o)
		}
	}
	e.retired = busy
	if before.certs != nil && before.certs != next.certs {
		before.certs.Close() // ends its watch; certificates already handed out stay valid
	}
}

// nameOrigins tells the origin metrics which origins keep their series.
func (og *originSide) nameOrigins() {
	var inForce []string
	for _, o := range og.now.Load().origins {
		inForce = append(inForce, o.config.Name)
	}
	busy := map[string]bool{}
	for _, o := range og.retired {
		busy[o.Stats(time.Now()).Name] = true
	}
	og.calls.InForce(inForce, func(name string) bool { return busy[name] })
}

// listenAt returns the settings of the listener with index i at the start: those of c for the same
// address, or was if c does not list the address.
func listenAt(c *config.Config, i int, was config.Listen) config.Listen {
	if i < len(c.Listen) && c.Listen[i].Address == was.Address {
		return c.Listen[i]
	}
	for _, l := range c.Listen {
		if l.Address == was.Address {
			return l
		}
	}
	return was
}

// adminOptions returns the admin listener's options with the live settings of l. The address is that of the start.
func (e *Edge) adminOptions(l *live) admin.Options {
	a := &l.config.Admin
	o := admin.Options{
		Address: e.config.Admin.Address, Hosts: a.Hosts, Token: l.token, Profiles: a.Pprof,
		Page: dashboard.Handler(l.token != ""), Registry: e.registry, Ready: e.readiness, Status: func() any { return e.Status() }, History: func() any { return e.History() }, Purger: e.proxy, Lookup: e.lookup, Top: e.top, Requests: e.requests, Drainer: e, Sightings: e.sightings(l.secret), Panics: e.panics, Log: e.log,
	}
	if e.disk != nil {
		o.Disk = adminDisk{e}
	}
	if e.reloader != nil {
		o.Reload = e.reloader.serveRequest
	}
	return o
}
