package config

import "github.com/goccy/go-yaml/ast"

func (d *decoder) origins(c *Config) func(node) {
	return func(n node) {
		d.each(n, "want a section of origins by their names", func(name string, n node) {
			o := d.origin
			o.Name = name
			d.section(keys{
				"servers":            elements(d, `want a list, such as ["http://127.0.0.1:9000"]`, &o.Servers, d.server),
				"balance":            word(d, &o.Balance, []Balance{RoundRobin, LeastConnections}),
				"ejection":           d.ejection(&o.Ejection),
				"health":             d.health(&o.Health),
				"host_header":        d.text(&o.HostHeader),
				"connect_timeout":    d.duration(&o.ConnectTimeout),
				"first_byte_timeout": d.duration(&o.FirstByteTimeout),
				"idle_timeout":       d.duration(&o.IdleTimeout),
				"max_connections":    d.integer(&o.MaxConnections),
				"queue": d.section(keys{
					"requests": d.integer(&o.Queue.Requests),
					"wait":     d.duration(&o.Queue.Wait),
				}),
				"tls": d.section(keys{
					"ca":                   d.text(&o.TLS.CA),
					"certificate":          d.text(&o.TLS.Certificate),
					"key":                  d.text(&o.TLS.Key),
					"server_name":          d.text(&o.TLS.ServerName),
					"insecure_skip_verify": d.boolean(&o.TLS.InsecureSkipVerify),
					"min_version":          word(d, &o.TLS.MinVersion, []TLSVersion{TLS12, TLS13}),
				}),
			})(n)
			c.Origins = append(c.Origins, o)
		})
	}
}

// server takes a URL, or a section with one and a weight.
func (d *decoder) server(s *Server) func(node) {
	s.Weight = 1
	url := converted(d, s, wantURL, func(text string) (Server, error) {
		read, err := parseServer(text)
		read.Weight = s.Weight
		return read, err
	})
	section := d.section(keys{"url": url, "weight": d.integer(&s.Weight)})
	return func(n node) {
		switch n.Node.(type) {
		case *ast.MappingNode, *ast.MappingValueNode:
			section(n)
		default:
			url(n)
		}
	}
}
