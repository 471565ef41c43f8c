// Package series keeps the series of /metrics that have a name of the configuration in them
// from growing without end.
//
// It answers one question: whose series may go? A route or an origin that a reload removes
// keeps its series for a while: the last scrape has not come yet, and requests under way are
// still to be counted. Names that change with every reload would fill the memory if
// they kept them for ever.
package series
