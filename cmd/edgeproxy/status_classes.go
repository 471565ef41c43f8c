package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"edgeproxy/internal/edge"
	"edgeproxy/internal/proxy"
)

// maxRouteLines bounds the routes on a screen.
const maxRouteLines = 10

// statusClasses are the classes in the order of a screen.
var statusClasses = []string{"1xx", "2xx", "3xx", "4xx", "5xx", "none"}

// classLines writes the statuses that clients got: of all requests, and of the routes that most are for.
func classLines(b *strings.Builder, now *edge.Status) {
	var shown []string // classes that there were
	for _, class := range statusClasses {
		if now.Requests.Totals.Classes[class] > 0 {
			shown = append(shown, class)
		}
	}
	if len(shown) == 0 {
		return
	}
	row := func(name string, r *proxy.RouteStatus) string {
		cells := []string{name}
		for _, class := range shown {
			cells = append(cells, strconv.FormatInt(r.Classes[class], 10))
		}
		return strings.Join(cells, "\t")
	}
	rows := []string{"status\t" + strings.Join(shown, "\t"), row("all", &now.Requests.Totals)}
	routes := mostRequested(now.Requests.Routes)
	for i := range routes[:min(len(routes), maxRouteLines)] {
		rows = append(rows, row(routes[i].Route, &routes[i]))
	}
	if more := len(routes) - maxRouteLines; more > 0 {
		rows = append(rows, fmt.Sprintf("and %d more routes", more))
	}
	table(b, rows...)
}

// latelyLines writes the rates of the last minute: of all requests, and of the routes that most are for.
func latelyLines(b *strings.Builder, now *edge.Status) {
	row := func(name string, r *proxy.RouteStatus) string {
		l, bytes := &r.Lately, ""
		if l.OriginByteRate != nil {
			bytes = sizeOf(int64(*l.OriginByteRate)) + "/s"
		}
		if l.Requests == 0 {
			return fmt.Sprintf("%s\t0\t\t\t\t\t\t%s", name, bytes)
		}
		return fmt.Sprintf("%s\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s", name, l.RequestRate, percent(l.HitRatio), percent(l.ErrorRatio),
			shortDuration(l.P50), shortDuration(l.P95), shortDuration(l.P99), bytes)
	}
	rows := []string{
		"in the last " + uptime(now.Lately) + "\trequests/s\thit ratio\terrors\t50 % within\t95 % within\t99 % within\tfrom origins",
		row("all", &now.Requests.Totals),
	}
	routes := mostRequested(now.Requests.Routes)
	for i := range routes[:min(len(routes), maxRouteLines)] {
		rows = append(rows, row(routes[i].Route, &routes[i]))
	}
	table(b, rows...)
}

// mostRequested returns the routes by their requests, the most first; none if there is but one.
func mostRequested(routes []proxy.RouteStatus) []proxy.RouteStatus {
	if len(routes) < 2 {
		return nil
	}
	routes = slices.Clone(routes)
	slices.SortStableFunc(routes, func(a, b proxy.RouteStatus) int { return cmp.Compare(b.Requests, a.Requests) })
	return routes
}

// serverClasses returns what came of the requests to a server, in one cell.
func serverClasses(s *edge.ServerStatus) string {
	var parts []string
	for _, class := range statusClasses {
		if n := s.Classes[class]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", class, n))
		}
	}
	text := orNone(strings.Join(parts, ", "))
	if s.Classes["none"] > 0 && s.LastFailure != "" {
		text += " (" + s.LastFailure + ")"
	}
	return text
}
