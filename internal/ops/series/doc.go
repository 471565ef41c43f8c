// Package series limits the series of /metrics that have a name of the configuration as a
// label.
//
// It says which names lose their series. A route or an origin that a reload removes keeps its
// series for a while: for the next scrape, and for requests under way, which are still to be
// counted. But names that change with every reload would fill the memory if they kept their
// series for ever.
package series
