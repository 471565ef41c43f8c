package admin

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of scraping. A hanging collector keeps its scrape's slot, so at most
// maxScrapes goroutines can hang.
const (
	maxScrapes    = 4
	scrapeTimeout = 10 * time.Second
)

// metricsHandler serves the metrics in the text format, or in another format that
// the client accepts. If one collector fails, the failure is logged and the rest is
// still served: a broken gauge must not hide the request counters.
func metricsHandler(registry prometheus.Gatherer, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		Timeout:             scrapeTimeout,
	})
}
