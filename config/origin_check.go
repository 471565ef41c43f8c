package config

import (
	"slices"

	"edgeproxy/internal/http/wire"
)

// origins checks each origin, and that there is one.
func (v *validator) origins() {
	if len(v.c.Origins) == 0 && v.noErrorAt("origins") && !v.incomplete {
		v.missingOrigin()
	}
	for i := range v.c.Origins {
		o := &v.c.Origins[i]
		path := child("origins", o.Name)
		if !validName(o.Name) {
			v.addError(path, "", wantName)
		}
		v.servers(child(path, "servers"), o.Servers)
		header := child(path, "host_header")
		if _, _, ok := wire.ParseHost(o.HostHeader); !ok && v.noErrorAt(header) {
			v.fail(header, wantHeader)
		}
		if keep := child(path, "keepalive_timeout"); o.KeepaliveTimeout == 0 && o.HTTP2 && v.noErrorAt(keep) {
			v.fail(keep, "0s: must be more with protocol h2, whose connections are shared by requests")
		}
		v.queue(child(path, "queue"), o)
		v.originTLS(path, o)
		v.ejection(child(path, "ejection"), o)
		v.health(child(path, "health"), &o.Health)
	}
}

// servers checks the servers of one origin.
func (v *validator) servers(path string, servers []Server) {
	if len(servers) == 0 && v.noErrorAt(path) {
		v.fail(path, missing("a server, such as http://127.0.0.1:9000"))
	}
	first := map[string]int{}
	for i, s := range servers {
		at := item(path, i)
		if !v.noErrorAt(at) {
			continue
		}
		if s.Address == "" {
			v.fail(child(at, "url"), missing("a server: "+serverForms))
			continue
		}
		if j, twice := first[s.Address]; twice {
			v.fail(at, "each server must be listed once: this is the same as "+item(path, j)+"; a higher weight gives a server more requests")
		}
		first[s.Address] = i
	}
	if len(servers) > 0 && !slices.ContainsFunc(servers, func(s Server) bool { return !s.Backup }) && v.noErrorAt(path) {
		v.fail(path, "must be at least one server that is not a backup")
	}
}

func (v *validator) missingOrigin() {
	if v.src.file == "" {
		v.errs = append(v.errs, &FieldError{Path: flagOrigin, Want: missing("a server: " + urlForm + ", or a file with origins")})
		return
	}
	v.fail("origins", missing(`an origin, such as app: {servers: ["http://127.0.0.1:9000"]}`))
}

func (v *validator) queue(path string, o *Origin) {
	requests, wait := child(path, "requests"), child(path, "wait")
	if o.QueueRequests > 0 && o.QueueWait == 0 && v.noErrorAt(requests, wait) {
		v.fail(wait, "must be more than 0s, or requests: 0 for no queue")
	}
}

// originTLS checks the TLS settings of an origin's servers. It does not read the files:
// internal/edge does, before it uses them.
func (v *validator) originTLS(path string, o *Origin) {
	section := child(path, "tls")
	if !v.src.given(section) {
		return
	}
	secure := slices.ContainsFunc(o.Servers, func(s Server) bool { return s.TLS })
	if !secure && v.noErrorAt(child(path, "servers")) {
		v.addError(section, "", "remove the section: no server is https")
	}
	v.keyPair(section, &o.TLS)
	if name := child(section, "server_name"); o.TLS.ServerName != "" && v.noErrorAt(name) {
		if _, port, ok := wire.ParseHost(o.TLS.ServerName); !ok || port != 0 {
			v.fail(name, "must be HOST, without a port")
		}
	}
	if o.TLS.InsecureSkipVerify && o.TLS.CA != "" && v.noErrorAt(section) {
		v.fail(child(section, "insecure_skip_verify"), "must have no ca with true: nothing is verified")
	}
}

// keyPair checks that certificate and key stand together.
func (v *validator) keyPair(section string, t *OriginTLS) {
	certificate, key := child(section, "certificate"), child(section, "key")
	switch {
	case !v.noErrorAt(certificate, key):
	case t.Certificate == "" && t.Key != "":
		v.fail(key, "needs certificate as well, the file with the certificate of this key")
	case t.Certificate != "" && t.Key == "":
		v.fail(certificate, "needs key as well, the file with the key of this certificate")
	}
}
