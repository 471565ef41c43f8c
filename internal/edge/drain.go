package edge

import (
	"fmt"
	"slices"
	"time"

	"edgeproxy/internal/ops/admin"
)

// DrainServer implements admin.Drainer. It waits for a reload under way, whose origins take over what it sets.
func (og *originSide) DrainServer(name, server string, out bool) (state string, err error) {
	og.setting.Lock()
	defer og.setting.Unlock()
	o, ok := og.originNamed(name)
	if !ok {
		return "", fmt.Errorf("origin %q: there is none of this name", name)
	}
	if o.origin.Drain(server, out) == 0 {
		return "", fmt.Errorf("server %q: origin %s has none of this name; /status has the names", server, name)
	}
	for _, v := range o.origin.Stats(time.Now()).Servers {
		if v.Address == server {
			state = v.State.String()
		}
	}
	if log := og.log.With("origin", name, "server", server, "state", state); out {
		log.Info("origin server is drained")
	} else {
		log.Info("origin server is ready")
	}
	return state, nil
}

// originNamed returns the origin of this name that is in force.
func (og *originSide) originNamed(name string) (liveOrigin, bool) {
	all := og.now.Load().origins
	i := slices.IndexFunc(all, func(o liveOrigin) bool { return o.config.Name == name })
	if i < 0 {
		return liveOrigin{}, false
	}
	return all[i], true
}

var _ admin.Drainer = (*Edge)(nil)
