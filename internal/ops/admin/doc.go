// Package admin is the listener for those who run the proxy: health, metrics,
// status and purge.
//
// It answers one question: what is the state of the proxy, and what shall it forget?
//
// The law it keeps: another site's page in a browser cannot reach anything here. The
// Host of a request must be loopback or a name of this listener, which prevents DNS
// rebinding (Jackson et al., "Protecting Browsers from DNS Rebinding Attacks", CCS
// 2007). A request that a foreign page made is refused by its Origin (RFC 6454) or
// Sec-Fetch-Site (W3C Fetch Metadata), also one of the same site. Others may only link to the page at /.
// Errors are JSON, {"error": "..."}; answers are never cached.
//
// With a token, everything except the page at /, health and metrics needs it. The page
// holds no data. Without a token every client that can connect may purge. The address
// must then be loopback or a socket, and never that of a data listener; the
// configuration checks that. A second, smaller server from NewMetrics shows only health
// and metrics, to any Host, for scrapers on the network. Ask is the client of both.
package admin
