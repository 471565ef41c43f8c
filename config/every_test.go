package config

import (
	_ "embed"
	"log/slog"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/conn/pace"
	"edgeproxy/internal/http/rfc9111"
	"edgeproxy/internal/ops/accesslog"
	"edgeproxy/internal/ops/spans"
	"edgeproxy/internal/ops/top"
	"edgeproxy/internal/origin"
	"edgeproxy/internal/origin/balance"
	"edgeproxy/internal/route/cachekey"
	"edgeproxy/internal/route/rate"
	"edgeproxy/internal/route/rewrite"
	"edgeproxy/internal/route/routing"
	"edgeproxy/internal/route/setting"
)

// ignoreOwn leaves out what is no part of the configuration's meaning.
var ignoreOwn = cmp.Options{cmpopts.IgnoreUnexported(Config{}, Route{}), cmpopts.EquateComparable(netip.Prefix{})}

// everyKey sets every supported key to something other than its default.
//
//go:embed testdata/every.yaml
var everyKey string

func everyCaching() setting.Caching {
	return setting.Caching{
		Options: rfc9111.Options{
			DefaultTTL: time.Second, Heuristic: rfc9111.Heuristic{Fraction: 0.2, MaxTTL: 25 * time.Hour}, TTLByStatus: map[int]time.Duration{404: time.Minute},
			ForcedTTL: 2 * time.Second, SetCookie: rfc9111.SetCookieStrip, SurrogateControl: true, ErrorMaxTTL: 11 * time.Second,
			Stale: rfc9111.Stale{OriginFailure: 61 * time.Minute, IfError: time.Minute, WhileRevalidate: 2 * time.Minute, Keep: 62 * time.Minute},
		},
		HonorRequest: true, TagFields: []string{"Surrogate-Key", "X-All-Tags"}, SendTags: true,
		NoVarySearch: true, StorePostAnswers: true, Invalidate: setting.InvalidateSameURL,
		Bypass:       setting.Bypass{Headers: []string{"X-Preview"}, Cookies: []string{"session", "wp_*"}},
		Key:          cachekey.Options{IgnoreQuery: []string{"utm_*", "fbclid"}, SortQuery: true, Headers: []string{"X-Lang"}, Cookies: []string{"theme"}},
		StripCookies: []string{"_ga*", "fbp"},
		SliceBytes:   int64(MiB),
	}
}

func everyWindow(generations int, every time.Duration, capacity int64, rate float64) admission.FilterOptions {
	return admission.FilterOptions{Options: bloom.Options{Generations: generations, Capacity: capacity, FalsePositiveRate: rate}, RotateEvery: every}
}

func networksOf(all ...string) (out []netip.Prefix) {
	for _, n := range all {
		out = append(out, netip.MustParsePrefix(n))
	}
	return out
}

func everyInherited() Inherited {
	return Inherited{
		TotalTimeout: 11 * time.Minute, AllowAmbiguousPath: true, UnusualNames: true, InterceptErrors: true,
		Access:     Access{Allow: networksOf("10.0.0.0/8", "192.0.2.0/24"), Deny: networksOf("192.0.2.0/24"), BasicAuth: BasicAuth{true, "staff", "staff"}},
		ErrorPages: map[string]string{"403": "denied.html", "5xx": "all.html"},
		Headers: Headers{
			Request:   RequestRules{FieldRules{[]string{"X-All-*"}, map[string]string{"X-All": "2", "X-Edge": "all"}}, []string{"X-All-*", "Accept-Encoding", "X-Lang", "Cookie"}},
			Response:  FieldRules{[]string{"X-Powered-By"}, map[string]string{"X-Content-Type-Options": "nosniff"}},
			Generated: GeneratedFields{map[string]string{"Strict-Transport-Security": "max-age=1", "X-Own": "all"}},
		},
	}
}

func everyRate() rate.Limit { return rate.Limit{Requests: 100, Per: 2 * time.Second, Burst: 200} }

func wantUnverified() Origin {
	o := defaultOrigin()
	o.Name, o.Servers = "unverified", []Server{{TLS: true, Address: "u:443", Weight: 1, Host: "u"}}
	o.TLS.InsecureSkipVerify = true
	return o
}

func wantEveryKey() *Config {
	return &Config{
		Node: Node{Name: "edge2"},
		Listen: []Listen{
			{
				Address: "unix:/run/edge.sock", SocketMode: 0o666, TLS: true, Livez: true,
				TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128")},
				ProxyProtocol:  true,
			},
			{Address: "[::1]:8081"},
		},
		Admin: Admin{Address: "unix:/run/admin.sock", SocketMode: 0o660, TokenFile: "token", Hosts: []string{"edge.internal"}, Pprof: true},
		Metrics: Metrics{
			Address: ":9100", Hosts: []routing.Host{{Name: "a.example"}, {Name: "b.example", Subdomains: true}}, Top: top.Options{Entries: 100, Window: time.Minute},
		},
		TLS: TLS{
			[]Certificate{{"c.pem", "k.pem"}},
			ACME{[]string{"www.example.com", "xn--nxasmq6b.example"}, true, "admin@example.com", "https://ca.internal/dir", "roots.pem", "acme", []Challenge{HTTP01}},
			TLS13,
		},
		Origins: []Origin{
			{
				Name: "shop", HostHeader: HostServer, Resolve: ResolveFirst,
				Servers: []Server{{TLS: true, Address: "10.0.0.1:9001", Weight: 3, Backup: true, Host: "10.0.0.1:9001"}, {Address: "10.0.0.2:9001", Weight: 1, Host: "10.0.0.2:9001"}},
				Settings: origin.Settings{
					Balance: balance.LeastConnections, HTTP2: true, Retry: origin.Retry{Statuses: []int{502, 503}, Budget: 0.3},
					Ejection: balance.Ejection{
						Failures: 6, Ratio: 0.25, Window: 20 * time.Second, Requests: 30, Targets: 7, Backoff: 11 * time.Second, MaxBackoff: 6 * time.Minute, Refuse: true,
					},
					Health:         origin.Health{Path: "/ok", Interval: 12 * time.Second, Timeout: 3 * time.Second, Healthy: 4, Unhealthy: 5, Status: origin.Statuses{From: 204, To: 204}},
					ConnectTimeout: 4 * time.Second, FirstByteTimeout: 31 * time.Second, IdleTimeout: 32 * time.Second, MaxAge: 10 * time.Minute,
					MaxConnections: 513, QueueRequests: 1025, QueueWait: 5 * time.Second,
				},
				KeepaliveTimeout: 33 * time.Second,
				TLS:              OriginTLS{CA: "ca.pem", Certificate: "edge.pem", Key: "edge.key", ServerName: "m.internal", MinVersion: TLS13},
			},
			{
				Name: "media", Servers: []Server{{TLS: true, Address: "media.example:443", Weight: 1, Host: "media.example"}, {TLS: true, SRV: true, Address: "_https._tcp.media.example", Weight: 1, Host: "media.example"}}, HostHeader: "www.example.com",
				Settings: origin.Settings{
					ConnectTimeout: 3 * time.Second, FirstByteTimeout: 30 * time.Second, IdleTimeout: 30 * time.Second,
					MaxConnections: 512, ReuseAfterPost: true, QueueRequests: 1024, QueueWait: 3 * time.Second,
					Retry: origin.Retry{Budget: 0.2}, Ejection: defaultOrigin().Ejection, Health: defaultOrigin().Health,
				},
				KeepaliveTimeout: 55 * time.Second, Resolve: ResolveAll, TLS: OriginTLS{MinVersion: TLS12},
			},
			wantUnverified(),
		},
		Routes: []Route{
			{
				Name: "media",
				Match: routing.Match{
					Scheme:       routing.SchemeHTTPS,
					Hosts:        []routing.Host{{Name: "media.example", Subdomains: true, Port: 81}, {Name: "media.example", Port: 8080}},
					PathPrefixes: []string{"/m"}, Paths: []string{"/m/a.jpg"}, PathSuffixes: []string{".jpg"}, Methods: []string{"GET"}, Fields: routing.ParseValues(map[string]string{"X-Beta": "1"}),
					Query: routing.ParseValues(map[string]string{"beta": "1"}),
				},
				Origin: "media", Admission: policy.Rule{Policy: policy.Counting, MoreThan: 6},
				Inherited: Inherited{
					AllowAmbiguousPath: false, UnusualNames: false, TotalTimeout: 10 * time.Minute,
					Headers: Headers{
						Request:   RequestRules{FieldRules{[]string{"X-Debug", "X-All-*"}, map[string]string{"X-Edge": "1", "X-All": "2"}}, []string{"X-Debug", "Server", "Accept-Encoding", "X-Lang", "Cookie"}},
						Response:  FieldRules{[]string{"Server", "X-Internal-*", "X-Powered-By"}, map[string]string{"X-Frame-Options": "DENY"}},
						Generated: GeneratedFields{map[string]string{"Strict-Transport-Security": "max-age=1", "X-Id": "{request_id}"}},
					},
					ErrorPages: map[string]string{"404": "gone.html", "5xx": "sorry.txt", "403": "denied.html"}, InterceptErrors: false,
					Access: Access{Allow: networksOf("10.0.0.0/8"), Deny: networksOf("10.9.0.0/16", "192.0.2.0/24"), BasicAuth: BasicAuth{true, "users", "back office"}},
				},
				ConnectTimeout: 5 * time.Second, FirstByteTimeout: 2 * time.Minute, IdleTimeout: 3 * time.Minute,
				Redirect:  Redirect{Status: 302},
				Rewrite:   rewrite.Options{StripPrefix: "/m", AddPrefix: "/media"},
				Rate:      rate.Limit{Requests: 10, Per: 2 * time.Second, Burst: 30},
				AccessLog: setting.Log{Enabled: true, Sample: 0.75},
				Cache: setting.Caching{
					Options: rfc9111.Options{
						DefaultTTL: 3 * time.Second, Heuristic: rfc9111.Heuristic{Fraction: 0.3, MaxTTL: 25 * time.Hour}, TTLByStatus: map[int]time.Duration{500: time.Second},
						ForcedTTL: 2 * time.Second, ErrorMaxTTL: 12 * time.Second,
						Stale: rfc9111.Stale{OriginFailure: 61 * time.Minute, IfError: time.Minute, WhileRevalidate: 2 * time.Minute, Keep: 5 * time.Minute},
					},
					Enabled: true, NoVarySearch: true, HonorNoStore: true, StorePostAnswers: true, Upgrades: true, Invalidate: setting.InvalidateNone,
					Bypass:      setting.Bypass{Headers: []string{"X-Own"}, Cookies: []string{"id"}},
					Key:         cachekey.Options{OnlyQuery: []string{"r"}, SortQuery: true, Headers: []string{"X-Lang"}, Cookies: []string{"currency"}},
					KeepCookies: []string{"own"}, TagFields: []string{"X-Own-Tags"},
					SliceBytes: int64(64 * KiB),
				},
				Compress: setting.Compress{Types: []string{"text/*", "application/json"}, MinBytes: 2 << 10, Level: setting.LevelBetter},
			},
			{Name: "shop", Match: routing.Match{Scheme: routing.AnyScheme, Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}}, Origin: "shop", Redirect: Redirect{Status: 302}, Admission: policy.Rule{Policy: policy.SecondHit}, Cache: whole(everyCaching()), Compress: everyCompress(), Rewrite: rewrite.Options{Locations: true}, Inherited: everyInherited(), Rate: everyRate(), AccessLog: setting.Log{Sample: 0.5}},
			{
				Name: "rest", Match: routing.Match{Scheme: routing.AnyScheme, Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}}, Origin: "shop", Admission: policy.Rule{Policy: policy.Counting, MoreThan: 5}, Cache: whole(everyCaching()),
				Compress: setting.Compress{Codings: []setting.Coding{setting.Gzip}, Types: []string{"text/html"}, MinBytes: 3 << 10}, Rewrite: rewrite.Options{Locations: true}, Inherited: everyInherited(), Rate: everyRate(), Redirect: Redirect{Status: 302}, AccessLog: setting.Log{Enabled: true, Sample: 0.5},
			},
			{Name: "moved", Match: routing.Match{Scheme: routing.AnyScheme, Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}}, Redirect: Redirect{"https://{host}{uri}", 308}, Admission: policy.Rule{Policy: policy.SecondHit}, Cache: everyCaching(), Compress: everyCompress(), Rewrite: rewrite.Options{Locations: true}, Inherited: everyInherited(), Rate: everyRate(), AccessLog: setting.Log{Enabled: true, Sample: 0.5}},
			{Name: "fixed", Match: routing.Match{Scheme: routing.AnyScheme, Hosts: []routing.Host{{}}, PathPrefixes: []string{"/"}}, Redirect: Redirect{Status: 302}, Respond: Respond{410, "gone", map[string]string{"X-Gone": "1"}}, Admission: policy.Rule{Policy: policy.SecondHit}, Cache: everyCaching(), Compress: everyCompress(), Rewrite: rewrite.Options{Locations: true}, Inherited: everyInherited(), Rate: everyRate(), AccessLog: setting.Log{Enabled: true, Sample: 0.5}},
		},
		Inherited: everyInherited(),
		Admission: Admission{
			Policy:      policy.SecondHit,
			SecondHit:   everyWindow(3, 31*time.Minute, 1000001, 0.02),
			Counting:    Counting{5, everyWindow(4, 7*time.Hour, 1000002, 0.03)},
			WarmUpBelow: 0.25, State: "sightings", Shadow: []policy.Rule{{Policy: policy.Always}, {Policy: policy.Counting, MoreThan: 5}, {Policy: policy.Counting, MoreThan: 2}, {Policy: policy.Chance, Probability: 0.3}},
			Chance: Chance{Probability: 0.3},
		},
		Cache: Cache{
			Caching:  everyCaching(),
			Collapse: setting.Collapse{CollapseWait: 6 * time.Second, UncacheableFor: 11 * time.Second}, AnyLanguageOrder: true,
			Memory: Memory{MaxBytes: 257 << 20, MaxObjectBytes: 9 << 20, StageBytes: 2 << 20, Eviction: cache.Recency, Optimise: cache.ForHits},
			Disk:   Disk{Paths: []string{"store", "/more"}, MaxBytes: 20 << 30, MaxObjectBytes: 2 << 30, MinFree: Free{Bytes: 3 << 30}, WriteRate: 50_000_000},
		},
		Compress: everyCompress(),
		Fleet:    Fleet{SecretFile: "secret"},
		Purge:    Purge{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}, TokenFile: "token"},
		Limits: Limits{
			Limits: setting.Limits{
				HeaderCount: 101, TargetBytes: 9 << 10, BodyBytes: 2 << 30, ReadIdleTimeout: 33 * time.Second, ReceiveRate: pace.Rate{Bytes: 3 << 10, Over: 62 * time.Second},
				UpgradeIdleTimeout: 35 * time.Minute, RequestsInFlight: 10001, Tunnels: 1025, Ranges: 17, RangeAmplification: 18,
			},
			FixedLimits: setting.FixedLimits{
				InflightBytes: 65 << 20, InflightShare: 0.5, OriginShare: 0.25, RequestBuffer: 65 << 10, ResponseBuffer: 2 << 20, SendRate: pace.Rate{Bytes: 2 << 10, Over: 61 * time.Second},
			},
			FrontLimits:      setting.FrontLimits{HeaderBytes: 17 << 10, HeaderTimeout: 11 * time.Second, KeepaliveTimeout: 61 * time.Second},
			WriteIdleTimeout: 34 * time.Second, SpoolPath: "spooled", SpoolBytes: 2 << 30, PinnedBytes: 66 << 20,
			Connections: 65537, PerAddress: 5, MaxVariants: 33, Rate: everyRate(),
		},
		Shutdown:    Shutdown{DrainDelay: time.Second, DrainTimeout: 35 * time.Second},
		CacheStatus: setting.CacheStatus{Send: setting.StatusToTrusted, Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		Log:         Log{Level: slog.LevelDebug, Format: FormatText},
		AccessLog:   AccessLog{"-", accesslog.FormTemplate, "{client} {target}", 0.5},
		Tracing:     Tracing{spans.Target{Endpoint: "http://127.0.0.1:4318/otlp", Headers: spans.Headers{"Api-Key": "of-a-test"}, Timeout: 11 * time.Second, Service: "edge"}, 0.02, 101},
	}
}

func everyCompress() setting.Compress {
	return setting.Compress{Codings: []setting.Coding{setting.Zstd, setting.Brotli}, Types: []string{"text/*", "application/json"}, MinBytes: 2 << 10, Level: setting.LevelBetter}
}

// whole is c without slices, which do not stand beside codings.
func whole(c setting.Caching) setting.Caching {
	c.SliceBytes = 0
	return c
}

func TestEveryKeyReachesItsField(t *testing.T) {
	got, err := Parse(caseFile, []byte(everyKey))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantEveryKey(), got, ignoreOwn); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// TestEveryKeyIsSet keeps everyKey complete: a new field that it does not set
// still has its default, except for the policy of all routes, which the windows
// need.
func TestEveryKeyIsSet(t *testing.T) {
	base := Default()
	base.Origins = []Origin{defaultOrigin()}
	base.Routes = []Route{defaultRoute("")}
	base.Admission.Policy = policy.Always
	var walk func(path string, a, b reflect.Value)
	walk = func(path string, a, b reflect.Value) {
		switch {
		case a.Kind() == reflect.Struct:
			for i := range a.NumField() {
				if a.Type().Field(i).IsExported() {
					walk(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
				}
			}
		case a.Kind() == reflect.Slice && a.Len() > 0 && b.Len() > 0 && a.Index(0).Kind() == reflect.Struct:
			walk(path+"[0]", a.Index(0), b.Index(0))
		case path == ".Origins[0].TLS.InsecureSkipVerify": // stands beside no ca
		case path == ".Routes[0].Admission.Probability": // a parameter of another policy than its own
		case strings.HasPrefix(path, ".Routes[0].Redirect."), strings.HasPrefix(path, ".Routes[0].Respond."): // stand beside no origin
		case strings.HasPrefix(path, ".Routes[0].Inherited."), strings.HasSuffix(path, ".BasicAuth.Enabled"): // false or the default again, over what is at the top; stands beside no users_file
		case strings.HasPrefix(path, ".Routes[0].Compress."): // stands beside no slice; the third has all of it
		case path == ".Admin.Token": // stands beside no token_file
		case path == ".Cache.Caching.KeepCookies", path == ".Routes[0].Cache.StripCookies", path == ".Cache.Caching.Key.OnlyQuery", path == ".Routes[0].Cache.Key.IgnoreQuery": // stand beside none of the other
		case path == ".Routes[0].Cache.HonorRequest", path == ".Routes[0].Cache.Options.SurrogateControl", path == ".Routes[0].Cache.Options.SetCookie", path == ".Routes[0].Cache.SendTags": // false again, over the true of all routes
		case strings.HasSuffix(path, ".Health.Host"), strings.HasSuffix(path, ".BoundErrors"), strings.HasSuffix(path, ".Partial"), strings.HasSuffix(path, ".Resizable"): // no settings: the engine sets them
		case reflect.DeepEqual(a.Interface(), b.Interface()):
			t.Errorf("%s: got the default, %v, want everyKey to set it", path, a)
		}
	}
	walk("", reflect.ValueOf(*wantEveryKey()), reflect.ValueOf(*base))
}

func exampleFile(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("edgeproxy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestExampleIsTheStartWithoutAFile(t *testing.T) {
	got, err := Parse("edgeproxy.yaml", exampleFile(t))
	if err != nil {
		t.Fatal(err)
	}
	want, err := FromFlags(Flags{Origin: "http://127.0.0.1:9000"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, ignoreOwn); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

// uncommented returns text with one section that stands in it as a comment.
func uncommented(t *testing.T, text, section string) string {
	t.Helper()
	before, rest, found := strings.Cut(text, "# "+section+":")
	indent := before[strings.LastIndexByte(before, '\n')+1:]
	block, after, _ := strings.Cut(rest, "\n\n")
	if !found {
		t.Fatalf("the example has no section %s", section)
	}
	return before + section + ":" + strings.ReplaceAll(block, "\n"+indent+"# ", "\n"+indent) + "\n\n" + after
}

// TestExampleNamesEveryDefault reads the example over nothing in place of the
// defaults, with the sections that may only stand under another policy, with
// other servers, or with a value.
func TestExampleNamesEveryDefault(t *testing.T) {
	text := string(exampleFile(t))
	for _, section := range []string{"counting", "tls", "acme", "basic_auth"} {
		text = uncommented(t, text, section)
	}
	root, problem := parseYAML(caseFile, []byte(text))
	if problem != nil {
		t.Fatal(problem)
	}
	got := &Config{}
	d := &decoder{report: newReport(newSource(caseFile)), lookup: environment, noDefaults: true}
	decode(got, root, d)
	if err := d.err(); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Origins = []Origin{defaultOrigin()}
	want.Origins[0].Name, want.Origins[0].Servers = "app", []Server{{Address: "127.0.0.1:9000", Weight: 1, Host: "127.0.0.1:9000"}}
	want.Routes = []Route{defaultRoute("app")}
	if diff := cmp.Diff(want, got, ignoreOwn); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}
