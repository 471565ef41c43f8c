package admin

import (
	"net/http"
	"net/http/pprof"
	runtimepprof "runtime/pprof"
)

const profiles = "/debug/pprof/"

// addProfiles adds the profiles of the process. net/http/pprof extends the write deadline
// for those that take longer than writeTimeout.
func addProfiles(routes map[string]route) {
	add := func(name, about string, h http.HandlerFunc) { routes[profiles+name] = read(about, h) }
	add("", "profiles of the process, for go tool pprof", pprof.Index)
	add("cmdline", "its command line", pprof.Cmdline)
	add("profile", "where it spends its time, over ?seconds=30", pprof.Profile)
	add("trace", "its execution, over ?seconds=1", pprof.Trace)
	symbol := read("functions at addresses", http.HandlerFunc(pprof.Symbol))
	symbol.methods = append(symbol.methods, http.MethodPost)
	routes[profiles+"symbol"] = symbol
	for _, p := range runtimepprof.Profiles() {
		add(p.Name(), "its profile "+p.Name(), pprof.Handler(p.Name()).ServeHTTP)
	}
}
