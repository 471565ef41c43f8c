// Package page answers one question: how does a report become one HTML file
// that anybody can open, years later and without a network?
//
// The laws it keeps: a page asks for nothing outside itself, and its
// Content-Security-Policy forbids it to try; what the caller hands over is
// text, never markup or script; every number that is drawn stands in a table
// as well, so that the page can be read without a screen, a mouse or JavaScript.
// The same Page always gives the same bytes.
//
// It measures nothing and knows nothing of caches or filters: headings, facts,
// tables and points are the caller's. The curves are drawn by uPlot, whose
// files lie unchanged in the folder uplot.
package page
