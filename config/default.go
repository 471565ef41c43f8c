package config

import (
	"log/slog"
	"time"
)

// Default returns the configuration of an empty file: complete but for an
// origin and a route, without which nothing can be served. The caller owns it.
func Default() *Config {
	return &Config{
		Node:   Node{Name: "edgeproxy"},
		Listen: []Listen{{Address: "127.0.0.1:8080"}},
		Admin:  Admin{Address: "127.0.0.1:9980"},
		TLS:    TLS{ACME: ACME{Directory: letsEncrypt, Challenges: []Challenge{TLSALPN01, HTTP01}}, MinVersion: TLS12},
		Admission: Admission{
			Policy:    PolicySecondHit,
			SecondHit: Window{Mode: WindowAuto, Generations: 2, FalsePositiveRate: 0.01},
			Counting: Counting{
				MoreThan: 4,
				Window:   Window{Mode: WindowAuto, Generations: 2, FalsePositiveRate: 0.01},
			},
		},
		Cache: Cache{
			Caching: Caching{
				Heuristic:    Heuristic{Fraction: 0.1, MaxTTL: 24 * time.Hour},
				TTLByStatus:  map[int]time.Duration{},
				ErrorMaxTTL:  10 * time.Second,
				SetCookie:    SetCookieShared,
				HonorNoStore: true,
				Upgrades:     true,
				Invalidate:   InvalidateUnsafe,
				Stale:        Stale{OriginFailure: time.Hour, Keep: time.Hour},
			},
			CollapseWait:   5 * time.Second,
			UncacheableFor: 10 * time.Second,
			Memory:         Memory{MaxBytes: 256 * MiB, MaxObjectBytes: 8 * MiB},
		},
		Limits:      defaultLimits(),
		Shutdown:    Shutdown{DrainTimeout: 30 * time.Second},
		CacheStatus: CacheStatus{Send: SendAll},
		Log:         Log{Level: slog.LevelInfo, Format: FormatJSON},
	}
}

func defaultLimits() Limits {
	return Limits{
		HeaderBytes:      16 * KiB,
		HeaderCount:      100,
		TargetBytes:      8 * KiB,
		BodyBytes:        GiB,
		HeaderTimeout:    10 * time.Second,
		ReadIdle:         30 * time.Second,
		WriteIdle:        30 * time.Second,
		SendRate:         Pace{KiB, time.Minute},
		ReceiveRate:      Pace{KiB, time.Minute},
		RequestBuffer:    64 * KiB,
		ResponseBuffer:   MiB,
		SpoolBytes:       GiB,
		UpgradeIdle:      time.Hour,
		Keepalive:        60 * time.Second,
		Connections:      65536,
		RequestsInFlight: 10000,
		Tunnels:          1024,
		InflightBytes:    64 * MiB,
		Variants:         32,
		Ranges:           16,
		OriginShare:      0.125,
		InflightShare:    0.125,
		Rate:             Rate{Per: time.Second},
	}
}

// defaultOrigin is what an origin has that says nothing but its servers.
func defaultOrigin() Origin {
	return Origin{
		Balance:          RoundRobin,
		HostHeader:       HostClient,
		ConnectTimeout:   3 * time.Second,
		FirstByteTimeout: 30 * time.Second,
		IdleTimeout:      30 * time.Second,
		MaxConnections:   512,
		Queue:            Queue{Requests: 1024, Wait: 3 * time.Second},
		Ejection: Ejection{
			Failures: 5, FailureRatio: 0.5, Window: 10 * time.Second, MinRequests: 20, MinTargets: 5,
			Backoff: 10 * time.Second, MaxBackoff: 5 * time.Minute, AllEjected: AllTried,
		},
		Health: Health{Interval: 10 * time.Second, Timeout: 2 * time.Second, Healthy: 2, Unhealthy: 3, Status: Statuses{200, 399}},
		TLS:    OriginTLS{MinVersion: TLS12},
	}
}

// defaultMatch is what a route matches that does not say.
func defaultMatch() Match {
	return Match{Hosts: []HostPattern{{}}, PathPrefix: "/"}
}

// defaultRoute is the only route of a configuration that lists none.
func defaultRoute(origin string) Route {
	return Route{Name: "default", Match: defaultMatch(), Origin: origin}
}
