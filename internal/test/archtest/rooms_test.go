package archtest

// module is the path that imports of our own rooms begin with.
const module = "edgeproxy"

// Modules that more than one room may import.
const (
	brotli     = "github.com/molecule-man/go-brrr"
	compress   = "github.com/klauspost/compress"
	bart       = "github.com/gaissmai/bart"
	fasthttp   = "github.com/valyala/fasthttp"
	humanize   = "github.com/dustin/go-humanize"
	isatty     = "github.com/mattn/go-isatty"
	mpb        = "github.com/vbauerster/mpb/v8"
	net        = "golang.org/x/net"
	prometheus = "github.com/prometheus/client_golang"
	xxh3       = "github.com/zeebo/xxh3"
)

// room says what the code of one folder may import directly. Everything in the
// standard library but C, what never names and, but for rooms that say so, unsafe is allowed. Test files may import any
// module and any room but those under cmd.
type room struct {
	ours     []string // rooms, by folder
	third    []string // modules, by path
	never    []string // packages of the standard library that it does without
	testOnly bool     // imported by test files alone; may import anything
	unsafe   bool     // lays out memory, or makes system calls, by itself, and may import unsafe
}

// rooms is the whole house. A new folder is a new line here.
func rooms() map[string]room {
	return map[string]room{
		"cmd/edgeproxy": {
			ours: []string{
				"config", "internal/ops/accesslog", "internal/ops/admin", "internal/bloom", "internal/cache/disk", "internal/lab/demo", "internal/edge", "internal/ops/lines",
				"internal/lab/model", "internal/ops/page", "internal/admission/policy", "internal/proxy", "internal/http/reason", "internal/lab/simulate", "internal/admission/size",
				"internal/cache/statefile", "internal/ops/top", "internal/lab/trace", "internal/http/wire",
			},
			third: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", humanize, prometheus, "golang.org/x/sys"},
		},
		"config": {
			ours:  []string{"internal/ops/accesslog", "internal/bloom", "internal/admission/fit", "internal/http/method", "internal/admission/policy"},
			third: []string{"github.com/goccy/go-yaml", humanize},
		},
		"internal/ops/accesslog": {ours: []string{"internal/ops/lines", "internal/ops/internal/syslog"}},
		"internal/front/acme": {
			third: []string{"github.com/caddyserver/certmagic", "github.com/mholt/acmez/v3", "go.uber.org/zap"},
		},
		"internal/ops/admin": {ours: []string{"internal/conn/rescue"}, third: []string{prometheus}},
		"internal/admission": {
			ours: []string{"internal/bloom", "internal/bloom/counting", "internal/bloom/sliding", "internal/admission/fit", "internal/admission/policy", "internal/cache/statefile"},
		},
		"internal/test/archtest":             {testOnly: true},
		"internal/origin/balance":            {},
		"internal/route/basicauth":           {ours: []string{"internal/route/client"}, third: []string{"golang.org/x/crypto"}},
		"internal/bloom":                     {},
		"internal/bloom/internal/bloomtest":  {testOnly: true},
		"internal/bloom/counting":            {ours: []string{"internal/bloom"}},
		"internal/bloom/textbook":            {ours: []string{"internal/bloom"}},
		"internal/bloom/sliding":             {ours: []string{"internal/bloom"}},
		"internal/proxy/internal/byteranges": {ours: []string{"internal/cache", "internal/http/rfc9111"}},
		"internal/front/certs":               {},
		"internal/route/client":              {},
		"internal/cache/buffer":              {},
		"internal/cache": {
			ours:   []string{"internal/cache/buffer", "internal/cache/disk", "internal/cache/evicted", "internal/cache/internal/eviction", "internal/http/field", "internal/conn/pinned", "internal/http/rfc9111"},
			third:  []string{"github.com/dgraph-io/ristretto/v2", prometheus, xxh3},
			unsafe: true,
		},
		"internal/cache/disk": {
			ours: []string{"internal/cache/buffer", "internal/cache/disk/device", "internal/cache/disk/internal/index", "internal/cache/disk/layout", "internal/cache/evicted", "internal/cache/statefile"},
		},
		"internal/cache/disk/device":         {ours: []string{"internal/conn/nonblock"}, third: []string{"golang.org/x/sys"}},
		"internal/cache/disk/internal/index": {},
		"internal/http":                      {},
		"internal/conn":                      {},
		"internal/route":                     {},
		"internal/front":                     {},
		"internal/ops":                       {},
		"internal/lab":                       {},
		"internal/test":                      {testOnly: true},
		"internal/cache/disk/layout":         {},
		"internal/cache/evicted":             {},
		"internal/http/chunked":              {ours: []string{"internal/http/field"}},
		"internal/route/cachekey":            {ours: []string{"internal/http/field", "internal/http/wire"}},
		"internal/proxy/compress":            {ours: []string{"internal/http/field", "internal/http/rfc9111"}, third: []string{brotli, compress}},
		"internal/ops/dashboard":             {ours: []string{"internal/ops/page"}},
		"internal/lab/demo":                  {third: []string{humanize, fasthttp}},
		"internal/origin/dial":               {ours: []string{"internal/conn/rescue"}, third: []string{net}},
		"internal/edge": {
			ours: []string{
				"config", "internal/ops/accesslog", "internal/front/acme", "internal/ops/admin", "internal/admission", "internal/origin/balance", "internal/route/basicauth", "internal/bloom",
				"internal/cache", "internal/cache/disk", "internal/cache/evicted", "internal/route/cachekey", "internal/front/certs", "internal/proxy/compress", "internal/ops/dashboard", "internal/origin/dial",
				"internal/http/field", "internal/route/fieldrules", "internal/front/http1", "internal/front/http2", "internal/front/listen", "internal/origin", "internal/conn/pace", "internal/conn/pinned",
				"internal/admission/policy", "internal/proxy", "internal/cache/purge", "internal/route/rate", "internal/http/reason", "internal/conn/rescue", "internal/route/rewrite", "internal/http/rfc9111", "internal/route/routing",
				"internal/conn/sendfile", "internal/lab/shadow", "internal/ops/spans", "internal/cache/spool", "internal/cache/statefile", "internal/edge/internal/supervisor", "internal/route/template", "internal/ops/top",
				"internal/edge/internal/watch", "internal/http/wire",
			},
			third: []string{"github.com/KimMachineGun/automemlimit", prometheus, "golang.org/x/sys"},
		},
		"internal/test/edgetest":            {testOnly: true},
		"internal/test/testkit":             {testOnly: true},
		"internal/cache/internal/eviction":  {},
		"internal/http/field":               {},
		"internal/route/fieldrules":         {ours: []string{"internal/http/field", "internal/http/rfc9111", "internal/route/template"}},
		"internal/admission/fit":            {},
		"internal/proxy/internal/flight":    {ours: []string{"internal/route/client"}},
		"internal/route/rewrite":            {ours: []string{"internal/http/wire"}},
		"internal/route/template":           {ours: []string{"internal/route/routing", "internal/http/wire"}},
		"internal/proxy/internal/readahead": {ours: []string{"internal/proxy/internal/flight", "internal/conn/rescue"}},
		"internal/http/forwarded": {
			ours:  []string{"internal/http/field", "internal/http/wire"},
			third: []string{bart},
		},
		"internal/front/http1": {
			ours:  []string{"internal/http/chunked", "internal/http/field", "internal/http/message", "internal/conn/nonblock", "internal/conn/rescue", "internal/http/wire"},
			third: []string{fasthttp},
		},
		"internal/front/http2": {
			ours:  []string{"internal/http/field", "internal/http/message", "internal/conn/pace", "internal/conn/rescue"},
			third: []string{"github.com/dunglas/httpsfv", net},
		},
		"internal/ops/lines":    {},
		"internal/front/listen": {ours: []string{"internal/route/client", "internal/conn/rescue"}, third: []string{"github.com/coreos/go-systemd/v22", "github.com/pires/go-proxyproto"}},
		"internal/http/message": {ours: []string{"internal/http/field"}},
		"internal/http/method":  {},
		"internal/lab/model": {
			ours: []string{
				"internal/bloom", "internal/bloom/counting", "internal/bloom/sliding", "internal/cache",
				"internal/cache/internal/eviction", "internal/admission/fit", "internal/admission/policy", "internal/http/reason", "internal/http/rfc9111", "internal/lab/trace",
			},
		},
		"internal/conn/nonblock": {unsafe: true, third: []string{"golang.org/x/sys"}},
		"internal/origin": {
			ours:  []string{"internal/origin/balance", "internal/http/chunked", "internal/route/client", "internal/http/field", "internal/http/method", "internal/conn/nonblock", "internal/http/reason", "internal/conn/rescue", "internal/ops/series"},
			third: []string{net, prometheus, "github.com/prometheus/client_model"},
		},
		"internal/conn/pace":                   {ours: []string{"internal/conn/pinned", "internal/conn/rescue"}, third: []string{"golang.org/x/sys"}},
		"internal/ops/page":                    {},
		"internal/conn/pinned":                 {ours: []string{"internal/conn/sendfile"}},
		"internal/admission/policy":            {ours: []string{"internal/bloom", "internal/http/reason"}},
		"internal/conn/presence":               {ours: []string{"internal/conn/rescue"}, third: []string{"golang.org/x/sys"}},
		"internal/cache/purge":                 {ours: []string{"internal/http/field", "internal/cache/statefile"}, third: []string{xxh3}},
		"internal/proxy/internal/purgedialect": {ours: []string{"internal/http/field"}},
		"internal/proxy": {
			ours: []string{
				"internal/ops/accesslog", "internal/admission", "internal/route/basicauth", "internal/cache/buffer", "internal/proxy/internal/byteranges", "internal/cache", "internal/route/cachekey", "internal/route/client", "internal/proxy/compress", "internal/http/field",
				"internal/route/fieldrules", "internal/proxy/internal/flight", "internal/http/forwarded", "internal/http/message", "internal/http/method", "internal/origin", "internal/conn/pace", "internal/conn/pinned", "internal/conn/presence", "internal/cache/purge", "internal/proxy/internal/purgedialect", "internal/proxy/internal/queryrules", "internal/route/rate", "internal/proxy/internal/readahead", "internal/http/reason", "internal/conn/rescue", "internal/route/rewrite", "internal/http/rfc9111", "internal/route/routing", "internal/proxy/internal/running", "internal/conn/sendfile", "internal/ops/series", "internal/lab/shadow", "internal/proxy/internal/sliced", "internal/ops/spans", "internal/cache/spool",
				"internal/route/template", "internal/ops/top", "internal/ops/tracecontext", "internal/proxy/internal/tunnel", "internal/proxy/internal/varyfields", "internal/http/wire",
			},
			third: []string{prometheus},
			never: []string{"net/http"},
		},
		"internal/proxy/internal/queryrules": {ours: []string{"internal/http/field", "internal/http/rfc9111", "internal/http/wire"}},
		"internal/route/rate":                {},
		"internal/http/reason":               {},
		"internal/conn/rescue":               {},
		"internal/http/rfc9111": {
			ours:  []string{"internal/http/field", "internal/http/method", "internal/http/reason", "internal/http/wire"},
			third: []string{"github.com/dunglas/httpsfv"},
		},
		"internal/route/routing":          {ours: []string{"internal/http/wire"}},
		"internal/proxy/internal/running": {},
		"internal/conn/sendfile":          {ours: []string{"internal/conn/rescue"}, third: []string{"golang.org/x/sys"}},
		"internal/ops/series":             {},
		"internal/lab/shadow": {
			ours: []string{
				"internal/admission", "internal/bloom", "internal/bloom/counting", "internal/bloom/sliding", "internal/admission/fit", "internal/lab/model", "internal/admission/policy",
			},
			third: []string{prometheus},
		},
		"internal/lab/simulate": {
			ours:  []string{"internal/admission/fit", "internal/lab/model", "internal/ops/page", "internal/admission/policy", "internal/lab/trace"},
			third: []string{humanize, isatty, mpb},
		},
		"internal/admission/size":            {ours: []string{"internal/bloom", "internal/admission/policy"}},
		"internal/proxy/internal/sliced":     {ours: []string{"internal/http/rfc9111"}},
		"internal/ops/spans":                 {ours: []string{"internal/conn/rescue", "internal/ops/tracecontext"}, third: []string{prometheus, "google.golang.org/protobuf"}},
		"internal/cache/spool":               {third: []string{"golang.org/x/sys"}},
		"internal/cache/statefile":           {},
		"internal/edge/internal/supervisor":  {ours: []string{"internal/conn/rescue"}, third: []string{"github.com/coreos/go-systemd/v22", "golang.org/x/sys"}},
		"internal/ops/internal/syslog":       {},
		"internal/ops/top":                   {},
		"internal/lab/trace":                 {ours: []string{"internal/http/wire"}, third: []string{humanize, compress, xxh3}},
		"internal/ops/tracecontext":          {},
		"internal/proxy/internal/tunnel":     {ours: []string{"internal/conn/rescue"}},
		"internal/proxy/internal/varyfields": {},
		"internal/edge/internal/watch":       {third: []string{"github.com/fsnotify/fsnotify"}},
		"internal/http/wire": {
			ours: []string{"internal/http/field", "internal/http/reason"},
		},
		"loadtest": {
			ours: []string{"internal/ops/page", "internal/admission/policy", "internal/http/reason", "internal/lab/trace"},
			third: []string{
				"github.com/HdrHistogram/hdrhistogram-go", humanize, "github.com/prometheus/client_model", "github.com/prometheus/common",
				"github.com/spf13/cobra", "github.com/spf13/pflag", fasthttp, isatty, mpb,
			},
		},
		"scripts/gotest":      {},
		"scripts/sbom":        {},
		"scripts/shipdocs":    {},
		"scripts/tour-origin": {},
		"test/conformance":    {},
		"test/diskbench": {
			ours: []string{"internal/cache/disk", "internal/cache/disk/device", "internal/cache/disk/layout", "internal/cache/statefile", "internal/lab/trace"},
		},
		"test/hostile":   {testOnly: true},
		"test/bench":     {third: []string{fasthttp, "golang.org/x/sys"}},
		"test/fair":      {testOnly: true},
		"test/faults":    {testOnly: true},
		"test/recipes":   {testOnly: true},
		"test/packaging": {testOnly: true},
		"test/tiers":     {testOnly: true},
		"test/proofs":    {third: []string{humanize}},
		"test/evict":     {ours: []string{"internal/lab/model", "internal/admission/policy", "internal/lab/trace"}},
		"test/sweep":     {ours: []string{"internal/admission/fit", "internal/lab/model", "internal/admission/policy", "internal/lab/trace"}},
		"test/filterbench": {
			ours:  []string{"internal/bloom", "internal/bloom/counting", "internal/bloom/sliding", "internal/bloom/textbook"},
			third: []string{"github.com/bits-and-blooms/bloom/v3"},
		},
	}
}
