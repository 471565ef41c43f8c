package archtest

// module is the path that imports of our own rooms begin with.
const module = "edgeproxy"

// wing is a folder whose rooms stand together: itself, and the rooms below it. Its rooms import each other as they like.
type wing struct {
	name    string   // path of the folder
	imports []string // other wings whose rooms its rooms may import
}

// wings lists them from the ground up: a wing imports only wings that stand before it.
func wings() []wing {
	const (
		http, conn, route, bloom, cache = "internal/http", "internal/conn", "internal/route", "internal/bloom", "internal/cache"
		admission, origin, ops, lab     = "internal/admission", "internal/origin", "internal/ops", "internal/lab"
		front, proxy, edge              = "internal/front", "internal/proxy", "internal/edge"
	)
	return []wing{
		{name: http},
		{name: conn},
		{name: bloom},
		{name: route, imports: []string{conn, http}},
		{name: cache, imports: []string{conn, http}},
		{name: admission, imports: []string{bloom, cache, http}},
		{name: ops, imports: []string{conn}},
		{name: origin, imports: []string{conn, http, ops, route}},
		{name: lab, imports: []string{admission, bloom, cache, http, ops}},
		{name: front, imports: []string{conn, http, route}},
		{name: proxy, imports: []string{admission, cache, conn, http, lab, ops, origin, route}},
		{name: "config", imports: []string{admission, bloom, cache, conn, http, ops, origin, route}},
		{name: edge, imports: []string{"config", admission, bloom, cache, conn, front, http, lab, ops, origin, proxy, route}},
		{name: "cmd/edgeproxy", imports: []string{"config", admission, bloom, cache, edge, http, lab, ops, proxy}},
		{name: "loadtest", imports: []string{admission, http, lab, ops}},
		{name: "test", imports: []string{admission, bloom, cache, lab}},
		{name: "scripts"},
		{name: "internal/test"},
	}
}

// modules lists the modules of others, and the rooms that may import each. Test files may import any.
func modules() map[string][]string {
	return map[string][]string{
		"github.com/HdrHistogram/hdrhistogram-go": {"loadtest"},
		"github.com/KimMachineGun/automemlimit":   {"internal/edge"},
		"github.com/bits-and-blooms/bloom/v3":     {"test/filterbench"},
		"github.com/caddyserver/certmagic":        {"internal/front/acme"},
		"github.com/coreos/go-systemd/v22":        {"internal/edge/internal/supervisor", "internal/front/listen"},
		"github.com/dgraph-io/ristretto/v2":       {"internal/cache"},
		"github.com/dunglas/httpsfv":              {"internal/front/http2", "internal/http/rfc9111"},
		"github.com/dustin/go-humanize":           {"cmd/edgeproxy", "config", "internal/lab/demo", "internal/lab/simulate", "internal/lab/trace", "loadtest", "loadtest/chart", "test/proofs"},
		"github.com/fsnotify/fsnotify":            {"internal/edge/internal/watch"},
		"github.com/gaissmai/bart":                {"internal/http/forwarded"},
		"github.com/goccy/go-yaml":                {"config"},
		"github.com/klauspost/compress":           {"internal/lab/trace", "internal/proxy/compress"},
		"github.com/mattn/go-isatty":              {"cmd/edgeproxy", "internal/lab/simulate", "loadtest"},
		"github.com/mholt/acmez/v3":               {"internal/front/acme"},
		"github.com/minio/sio":                    {"internal/ops/sealed"},
		"github.com/molecule-man/go-brrr":         {"internal/proxy/compress"},
		"github.com/pires/go-proxyproto":          {"internal/front/listen"},
		"github.com/prometheus/client_golang":     {"cmd/edgeproxy", "internal/cache", "internal/edge", "internal/lab/shadow", "internal/ops/admin", "internal/ops/spans", "internal/origin", "internal/proxy"},
		"github.com/prometheus/client_model":      {"internal/lab/metrics", "internal/origin"},
		"github.com/prometheus/common":            {"internal/lab/metrics"},
		"github.com/spf13/cobra":                  {"cmd/edgeproxy"},
		"github.com/spf13/pflag":                  {"cmd/edgeproxy"},
		"github.com/valyala/fasthttp":             {"internal/front/http1", "internal/lab/demo", "loadtest", "test/bench"},
		"github.com/vbauerster/mpb/v8":            {"internal/lab/simulate", "loadtest"},
		"github.com/zeebo/xxh3":                   {"internal/cache", "internal/cache/purge", "internal/lab/trace"},
		"go.uber.org/zap":                         {"internal/front/acme"},
		"golang.org/x/crypto":                     {"internal/route/basicauth"},
		"golang.org/x/net":                        {"internal/front/http2", "internal/origin", "internal/origin/dial"},
		"golang.org/x/sys":                        {"cmd/edgeproxy", "internal/cache/disk/device", "internal/cache/spool", "internal/conn/nonblock", "internal/conn/pace", "internal/conn/presence", "internal/conn/sendfile", "internal/edge", "internal/edge/internal/supervisor", "test/bench"},
		"google.golang.org/protobuf":              {"internal/ops/spans"},
	}
}

// testOnly lists the rooms that only test files import. They may import anything.
func testOnly() []string {
	return []string{
		"internal/bloom/internal/bloomtest", "internal/test", "internal/test/archtest", "internal/test/edgetest", "internal/test/testkit",
		"test/fair", "test/faults", "test/hostile", "test/packaging", "test/recipes", "test/tiers",
	}
}

// unsafeRooms lay out memory, or make system calls, by themselves, and may import unsafe.
func unsafeRooms() []string { return []string{"internal/cache", "internal/conn/nonblock"} }

// without lists packages of the standard library that a room does without.
func without() map[string][]string { return map[string][]string{"internal/proxy": {"net/http"}} }
