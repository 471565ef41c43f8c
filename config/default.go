package config

// Default returns the configuration of an empty file: complete but for an
// origin and a route, without which nothing can be served. The caller owns it.
func Default() *Config {
	c := withDefaults((*Config).table)
	return &c
}

// defaultOrigin is what an origin has that says nothing but its servers.
func defaultOrigin() Origin { return withDefaults((*Origin).table) }

// defaultRoute is the only route of a configuration that lists none.
func defaultRoute(origin string) Route {
	r := withDefaults((*Route).table)
	r.Name, r.Origin = "default", origin
	return r
}
