package config

import (
	"maps"
	"slices"
	"strings"

	"edgeproxy/internal/route/routing"
)

// routeIndex finds the routes that may match a request for a host and a path, or all requests below them. A warning that
// compares each route with all others takes seconds for a file of thousands of routes.
type routeIndex struct {
	at   map[sitePath][]int // indexes of routes, by a host of match.hosts and the beginning of a path
	wide []int              // routes with more than maxPlaces of these
	all  []int
}

// sitePath is the host of a pattern, "" for any, and the beginning of a path as pathKey has it.
type sitePath struct{ host, path string }

const (
	maxPlaces   = 256 // places in the index that one route has at most
	maxSegments = 32  // segments of a path that the index looks at
)

func indexRoutes(routes []Route) *routeIndex {
	x := &routeIndex{at: map[sitePath][]int{}}
	for i := range routes {
		x.add(i, &routes[i].Match)
	}
	return x
}

func (x *routeIndex) add(i int, m *routing.Match) {
	x.all = append(x.all, i)
	paths := begins(m)
	if len(m.Hosts)*len(paths) > maxPlaces {
		x.wide = append(x.wide, i)
		return
	}
	for _, h := range m.Hosts {
		for _, p := range paths {
			at := sitePath{h.Name, pathKey(p)}
			if list := x.at[at]; len(list) == 0 || list[len(list)-1] != i {
				x.at[at] = append(list, i)
			}
		}
	}
}

// begins returns the beginnings of all paths that m matches.
func begins(m *routing.Match) []string {
	if len(m.Paths) > 0 {
		return m.Paths
	}
	return m.PathPrefixes
}

// pathKey is the first segments of path, without a slash at the end.
func pathKey(path string) string {
	path, seen := strings.TrimSuffix(path, "/"), 0
	for i := range len(path) {
		if path[i] != '/' {
			continue
		}
		if seen++; seen > maxSegments {
			return path[:i]
		}
	}
	return path
}

// around returns, in their order, the routes with a pattern for one of hosts or for a domain above it, and a path that is path or a
// beginning of it. No other route matches all that a route for such a host and path matches. If hosts has a wildcard, patterns below
// it are not among them.
func (x *routeIndex) around(hosts []routing.Host, path string) []int {
	found := map[int]bool{}
	note := func(routes []int) {
		for _, i := range routes {
			found[i] = true
		}
	}
	note(x.wide)
	paths := pathsAround(path)
	for _, h := range hosts {
		for _, host := range hostsAround(h.Name) {
			for _, key := range paths {
				note(x.at[sitePath{host, key}])
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// hostsAround returns host, the domains above it, and "" for any host.
func hostsAround(host string) []string {
	out := []string{host}
	for host != "" {
		_, host, _ = strings.Cut(host, ".")
		out = append(out, host)
	}
	return out
}

// pathsAround returns the key of path, and those of the paths above it; "" is that of /.
func pathsAround(path string) []string {
	key := pathKey(path)
	out := []string{key}
	for strings.Contains(key, "/") {
		key = key[:strings.LastIndexByte(key, '/')]
		out = append(out, key)
	}
	return out
}

// covering returns the routes that may match all that m matches, in their order.
func (x *routeIndex) covering(m *routing.Match) []int {
	paths := begins(m)
	if len(m.Hosts) == 0 || len(paths) == 0 {
		return x.all
	}
	return x.around(m.Hosts[:1], paths[0])
}

// meeting returns the routes that may match a request for path which also meets the hosts of m, in their order.
func (x *routeIndex) meeting(m *routing.Match, path string) []int {
	wild := slices.ContainsFunc(m.Hosts, func(h routing.Host) bool { return h.Name == "" || h.Subdomains })
	if wild || len(m.Hosts) > maxPlaces {
		return x.all
	}
	return x.around(m.Hosts, path)
}
