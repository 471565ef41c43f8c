package config

// Default returns the configuration of an empty file. It has no origin and no route,
// and cannot serve without them. The caller owns it.
func Default() *Config {
	c := withDefaults((*Config).table)
	return &c
}

// defaultOrigin is an origin with every default and no servers.
func defaultOrigin() Origin { return withDefaults((*Origin).table) }

// defaultRoute is the only route of a configuration that lists none.
func defaultRoute(origin string) Route {
	r := withDefaults((*Route).table)
	r.Name, r.Origin, r.path = "default", origin, item(routesKey, 0)
	return r
}
