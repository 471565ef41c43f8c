package config

import (
	"log/slog"
	"time"

	"edgeproxy/internal/cache"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/setting"
)

// Config is a whole configuration, with every default filled in. A Config returned
// by Load, LoadWith, Parse or FromFlags has passed all checks. It is plain data:
// safe to read from several goroutines as long as nobody writes to it.
type Config struct {
	Node        Node
	Listen      []Listen // at least one
	Admin       Admin
	Metrics     Metrics
	TLS         TLS
	Origins     []Origin // at least one, names unique, in the file's order
	Routes      []Route  // at least one, names unique; the first match wins
	Inherited            // inherited by routes that have no value of their own
	Admission   Admission
	Cache       Cache
	Compress    setting.Compress
	Purge       Purge
	Fleet       Fleet
	Limits      Limits
	Shutdown    Shutdown
	CacheStatus setting.CacheStatus
	Log         Log
	AccessLog   AccessLog
	Tracing     Tracing

	src         source
	headerRules HeaderRules // validate makes them of Headers
}

// Node is the identity of this process.
type Node struct {
	// Name goes into Via (RFC 9110 section 7.6.3), Cache-Status (RFC 9211) and
	// CDN-Loop (RFC 8586): a letter, then letters, digits, '-', '.' and '_', at most 64 in all.
	Name string
}

// Cache is the cache section: what is stored, for how long, and where.
type Cache struct {
	setting.Caching
	setting.Collapse
	// AnyLanguageOrder ignores the order of languages in Accept-Language.
	AnyLanguageOrder bool
	Memory           Memory
	Disk             Disk
}

// Memory is the size of the memory tier.
type Memory struct {
	MaxBytes       Size // the size of the whole tier
	MaxObjectBytes Size // the size of one body; above 0, at most a quarter of MaxBytes
	StageBytes     Size // the part of MaxBytes for responses requested once: at most half, 0 for none, or AutoStage
	Eviction       cache.Eviction
	Optimise       cache.Optimise // with cache.SizeAware
}

// Limits bounds what clients may ask of the process. Their ranges are in the table.
type Limits struct {
	setting.Limits
	setting.FixedLimits
	setting.FrontLimits
	WriteIdleTimeout time.Duration // between two writes of a response
	SpoolPath        string        // a folder for what is read ahead beyond ResponseBuffer; "" is none
	SpoolBytes       int64         // the size of all files in SpoolPath
	PinnedBytes      int64         // the size of bodies that are being sent and have left the cache; 0: see Pinned
	Connections      int           // connections of clients, open at once
	PerAddress       int           // connections of one client address; 0 is any number
	MaxVariants      int           // stored for one URL (Vary)
	Rate             rate.Limit    // the rate of one client's requests; routes may have one of their own
}

// Shutdown says how the process stops. Both may be 0.
type Shutdown struct {
	DrainDelay   time.Duration // not ready, but still serving
	DrainTimeout time.Duration // after DrainDelay, for requests under way
}

// Log is the program's own log, on standard error.
type Log struct {
	Level  slog.Level // one of slog's four named levels
	Format Format
}

// Format is the form of a log line.
type Format string

// The values of Format.
const (
	FormatJSON Format = "json"
	FormatText Format = "text"
)

// AccessLog is the record of requests, a line each.
type AccessLog struct {
	Path     string         // a file; "-" is standard output, "" is no access log
	Format   accesslog.Form // the form of a line
	Template string         // the template of accesslog.FormTemplate; "" with other formats
	Sample   float64        // the share of requests that are logged, 0 to 1; for routes without a value of their own, and requests without a route
}
