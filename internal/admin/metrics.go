package admin

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Limits of scraping. A collector that hangs keeps its place, so it can never
// hold more than maxScrapes goroutines.
const (
	maxScrapes    = 4
	scrapeTimeout = 10 * time.Second
)

// metricsHandler shows the metrics in the text format, or in another that the
// client asks for. When one collector fails the rest is still shown and the
// failure logged: a broken gauge must not hide the request counters.
func metricsHandler(registry prometheus.Gatherer, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelError),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
		Timeout:             scrapeTimeout,
	})
}
