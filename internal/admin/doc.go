// Package admin is the listener for those who run the proxy: health, metrics,
// status and purge.
//
// It answers one question: how does the proxy do, and what must it forget?
//
// The law it keeps: nothing here is reachable through a browser that visits
// somebody else's page. The Host of a request must be loopback or a name of
// this listener, which ends DNS rebinding (Jackson et al., "Protecting Browsers
// from DNS Rebinding Attacks", CCS 2007), and a request that a foreign page
// made is refused by its Origin (RFC 6454) or Sec-Fetch-Site (W3C Fetch
// Metadata). Only a link to the page at / may be followed from elsewhere. Errors are JSON, {"error": "..."}; answers are never cached.
//
// With a token, all but the page at /, health and metrics need it. The page holds no data. Without a token
// every client that can connect may purge. So the address then belongs on loopback or a
// socket, and never to the data listener; the configuration checks that. A second, smaller
// server from NewMetrics shows health and metrics only, to any Host, for scrapers on the
// network.
package admin
