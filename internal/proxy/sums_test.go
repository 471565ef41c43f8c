package proxy

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"edgeproxy/internal/ops/series"
)

// countAll sets every counter below v to another number, and returns how many there are.
func countAll(v reflect.Value, next *int64) {
	if n, ok := reflect.TypeAssert[*atomic.Int64](v.Addr()); ok {
		*next++
		n.Store(*next)
		return
	}
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			f := v.Field(i)
			if name := v.Type().Field(i).Name; name != "busy" { // no counter
				countAll(reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), next)
			}
		}
	}
	if v.Kind() == reflect.Array || v.Kind() == reflect.Slice {
		for i := range v.Len() {
			countAll(v.Index(i), next)
		}
	}
}

func TestSumsOfRoutesHaveEveryCounter(t *testing.T) {
	r, sum := newRouteMetrics("a"), newRouteMetrics("a")
	var n int64
	countAll(reflect.ValueOf(r).Elem(), &n)
	if n < 300 {
		t.Fatalf("got %d counters, want those of all results", n)
	}
	sum.add(r)
	if !reflect.DeepEqual(r, sum) {
		t.Error("a counter is not in the sum")
	}
}

// valuesOf returns each value of /metrics, those of routes summed up, and how many series there are.
func valuesOf(t *testing.T, r *prometheus.Registry) (values map[string]float64, count int) {
	t.Helper()
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values = map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			count++
			addValues(values, f.GetName(), m)
		}
	}
	return values, count
}

func addValues(values map[string]float64, name string, m *dto.Metric) {
	for _, l := range m.GetLabel() {
		if l.GetName() != "route" {
			name += " " + l.GetName() + "=" + l.GetValue()
		}
	}
	values[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue()
	if h := m.GetHistogram(); h != nil {
		values[name+" sum"] += float64(int64(h.GetSampleSum()/tick.Seconds() + 0.5))
		for _, b := range h.GetBucket() {
			values[fmt.Sprint(name, " le ", b.GetUpperBound())] += float64(b.GetCumulativeCount())
		}
	}
}

// Each further route costs dozens of series. Without the label there are as many as one route has, and the
// values are the sums, also of routes that a reload has taken away.
func TestSeriesWithoutTheLabelOfRoutes(t *testing.T) {
	names := func(n int) (out []*route) {
		for i := range n {
			out = append(out, &route{Route: &Route{Name: fmt.Sprint("r", i)}})
		}
		return out
	}
	play := func(o MetricsOptions, routes int) (*Metrics, *prometheus.Registry) {
		registry := prometheus.NewRegistry()
		m := NewMetrics(registry, o)
		for i := range routes {
			n := int64(i)
			countAll(reflect.ValueOf(m.forRoute(fmt.Sprint("r", i))).Elem(), &n)
		}
		m.inForce(names(routes))
		return m, registry
	}
	const many = series.Kept * 2
	_, one := play(MetricsOptions{RouteLabel: true}, 1)
	_, each := play(MetricsOptions{RouteLabel: true}, many)
	m, all := play(MetricsOptions{}, many)
	_, few := valuesOf(t, one)
	want, lots := valuesOf(t, each)
	got, together := valuesOf(t, all)
	if together > few || lots < many*together/2 {
		t.Errorf("got %d series, %d by route, and %d of one route", together, lots, few)
	}
	if !maps.Equal(got, want) {
		t.Errorf("got other sums: %s", differences(got, want))
	}
	m.inForce(names(1))
	m.inForce(names(1))
	if len(m.routes) > series.Kept+2 {
		t.Fatalf("%d routes are there: none has gone", len(m.routes))
	}
	if got, _ := valuesOf(t, all); !maps.Equal(got, want) {
		t.Errorf("after a reload: got other sums: %s", differences(got, want))
	}
}

func differences(got, want map[string]float64) string {
	var b strings.Builder
	for name, v := range want {
		if got[name] != v && b.Len() < 1000 {
			fmt.Fprintf(&b, "%s: got %v, want %v\n", name, got[name], v)
		}
	}
	return b.String()
}
