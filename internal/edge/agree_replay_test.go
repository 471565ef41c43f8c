package edge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/bloom"
	"edgeproxy/internal/cache"
	"edgeproxy/internal/http/wire"
	"edgeproxy/internal/lab/model"
	"edgeproxy/internal/lab/simulate"
	"edgeproxy/internal/lab/trace"
	"edgeproxy/internal/test/testkit"
)

// sequence is a trace in memory.
type sequence struct {
	objects  []trace.Object
	accesses []trace.Access
	unique   int64 // bytes
}

// readSequence reads the first limit requests, 0 being all.
func readSequence(t *testing.T, log string, limit int64) *sequence {
	t.Helper()
	tr, err := trace.Read(t.Context(), []string{log}, trace.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.Close() }()
	s := &sequence{objects: tr.Objects(), unique: tr.Facts().UniqueBytes}
	if err := tr.Each(t.Context(), func(batch []trace.Access) error {
		s.accesses = append(s.accesses, batch...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return s
}

// cached is C: how many objects of mean size so many bytes hold.
func (s *sequence) cached(bytes int64) int {
	return int(float64(bytes) * float64(len(s.objects)) / float64(s.unique))
}

// file writes the sequence as a log, where the answer to a HEAD has no bytes.
func (s *sequence) file(t *testing.T) string {
	t.Helper()
	return s.drawn(t, 0)
}

// drawn is file with other URLs for each draw. Simulate does the same each time for the same URLs, and what it evicts goes by their hashes.
func (s *sequence) drawn(t *testing.T, draw int) string {
	t.Helper()
	query := ""
	if draw > 0 {
		query = "?draw=" + strconv.Itoa(draw)
	}
	var b strings.Builder
	b.WriteString("method,url,bytes\n")
	for _, a := range s.accesses {
		method, size := "GET", s.objects[a.Object].Size
		if a.Head {
			method, size = "HEAD", 0
		}
		fmt.Fprintf(&b, "%s,%s%s,%d\n", method, replayTarget(a.Object), query, size)
	}
	return writeFile(t, "sequence.csv", b.String())
}

// withHeads returns the sequence with every third request made a HEAD.
func (s *sequence) withHeads() *sequence {
	out := *s
	out.accesses = slices.Clone(s.accesses)
	for n := range out.accesses {
		out.accesses[n].Head = n%3 == 2
	}
	return &out
}

// setup is what both sides are set to.
type setup struct {
	policy              policy.Policy
	moreThan            int
	probability         float64
	keys                int     // keys of a generation; there are two, rotated by fill alone; 0: window auto
	rate                float64 // the rate of false positives
	capacity, maxObject int64   // bytes
	stage               int64   // the part of capacity
	eviction            cache.Eviction
	seed                uint64 // seed of the proxy's hash
}

// setups returns one for each policy. At these rates no key is taken for another,
// which is the same in every run: neither side's hash ever changes.
func setups(keys int, capacity int64) []setup {
	s := setup{keys: keys, capacity: capacity, maxObject: capacity / 4}
	always, second, counting := s, s, s
	always.policy = policy.Always
	second.policy, second.rate = policy.SecondHit, 1e-9
	counting.policy, counting.moreThan, counting.rate = policy.Counting, 2, 1e-6
	fitted, fittedCounting, chance := second, counting, s
	fitted.keys, fittedCounting.keys = 0, 0
	chance.policy, chance.probability = policy.Chance, 0.2
	return []setup{second, counting, fitted, fittedCounting, chance, always}
}

// name tells the setups apart.
func (s *setup) name() string {
	if s.fitted() {
		return s.policy.String() + " auto"
	}
	return s.policy.String()
}

// fitted reports whether the window fits the cache.
func (s *setup) fitted() bool { return s.keys == 0 && s.remembers() }

// remembers reports whether the policy has a window.
func (s *setup) remembers() bool {
	return s.policy == policy.SecondHit || s.policy == policy.Counting
}

// flags are those of simulate.
func (s *setup) flags() []string {
	flags := []string{
		"--policy", s.policy.String(), "--capacity", strconv.FormatInt(s.capacity, 10) + "B",
		"--max-object", strconv.FormatInt(s.maxObject, 10) + "B",
	}
	if s.eviction != cache.SizeAware {
		flags = append(flags, "--eviction", s.eviction.String())
	}
	if s.stage > 0 {
		flags = append(flags, "--stage", strconv.FormatInt(s.stage, 10)+"B")
	}
	if s.moreThan > 0 {
		flags = append(flags, "--more-than", strconv.Itoa(s.moreThan))
	}
	if s.probability > 0 {
		flags = append(flags, "--probability", strconv.FormatFloat(s.probability, 'g', -1, 64))
	}
	if !s.remembers() {
		return flags
	}
	if s.fitted() {
		return append(flags, "--window", "auto", "--false-positive-rate", strconv.FormatFloat(s.rate, 'g', -1, 64))
	}
	return append(flags, "--rotate-keys", strconv.Itoa(s.keys), "--false-positive-rate", strconv.FormatFloat(s.rate, 'g', -1, 64))
}

// config is that of the proxy. Its hash has a seed that does not change, which it
// finds in the file of its sightings.
func (s *setup) config(t *testing.T, origin string) *config.Config {
	t.Helper()
	c, err := config.FromFlags(config.Flags{
		Origin: "http://" + origin, Listen: "127.0.0.1:0", Admin: "127.0.0.1:0", Policy: s.policy.String(),
	})
	if err != nil {
		t.Fatal(err)
	}
	window := admission.FilterOptions{Fitted: admission.Fitted(s.fitted()), Options: bloom.Options{Generations: 2, Capacity: int64(s.keys), FalsePositiveRate: s.rate}}
	c.Admission.SecondHit, c.Admission.Counting.Window = window, window
	c.Routes[0].Admission.MoreThan, c.Routes[0].Admission.Probability = s.moreThan, s.probability
	c.Cache.Memory = config.Memory{MaxBytes: config.Size(s.capacity), MaxObjectBytes: config.Size(s.maxObject), StageBytes: config.Size(s.stage), Eviction: s.eviction}
	c.Admission.State = filepath.Join(t.TempDir(), "sightings")
	g, err := admission.New(admission.Options{State: &admission.StateOptions{Path: c.Admission.State, Seed: max(s.seed, 1)}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Save(time.Now()); err != nil {
		t.Fatal(err)
	}
	g.Close()
	return c
}

// model is that of simulate, of the same objects under the proxy's own hash.
func (s *setup) model(t *testing.T, objects []trace.Object) *model.Run {
	t.Helper()
	m, err := model.New(model.Setting{
		Rule: policy.Rule{Policy: s.policy, MoreThan: s.moreThan, Probability: s.probability}, Generations: 2, RotateKeys: int64(s.keys), Fitted: s.fitted(), FalsePositiveRate: s.rate,
		CapacityBytes: s.capacity, MaxObjectBytes: s.maxObject, Eviction: model.LRU,
	}, objects)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// answer is what a client is told of its request.
type answer uint8

const (
	answeredHit answer = iota
	answeredStored
	answeredHeldBack
	answeredTooLarge
	answeredHead // the origin answered
	answeredOutweighed
)

func (a answer) String() string {
	return [...]string{"hit", "stored", "held back", "too large", "HEAD", "outweighed"}[a]
}

// answerOf reads Cache-Status.
func answerOf(status string) (answer, error) {
	switch {
	case strings.HasPrefix(status, "edgeproxy; hit"):
		return answeredHit, nil
	case status == "edgeproxy; fwd=uri-miss; stored":
		return answeredStored, nil
	case status == "edgeproxy; fwd=uri-miss; detail=first-sighting", status == "edgeproxy; fwd=uri-miss; detail=not-drawn", strings.HasPrefix(status, "edgeproxy; fwd=uri-miss; detail=sighting-"):
		return answeredHeldBack, nil
	case status == "edgeproxy; fwd=uri-miss; detail=outweighed":
		return answeredOutweighed, nil
	case status == "edgeproxy; fwd=uri-miss; detail=too-large":
		return answeredTooLarge, nil
	case status == "edgeproxy; fwd=uri-miss; detail=method":
		return answeredHead, nil
	}
	return 0, fmt.Errorf("Cache-Status: %s: must be a hit, or whether it was stored", status)
}

// replayHost is the Host of every request.
const replayHost = "replay.test"

func replayTarget(object uint32) string { return "/o/" + strconv.FormatUint(uint64(object), 10) }

// replay is a running proxy between an origin that has the objects of a sequence
// and one client.
type replay struct {
	t      *testing.T
	setup  *setup
	seq    *sequence
	edge   *Edge
	client net.Conn
	in     *bufio.Reader

	// The keys of the generation that the filter is filling now.
	generation uint32
	sighted    []uint32 // the generation by object it was last asked for in
	keys       int

	fills    int64      // fills that the proxy has told its gate of
	follower *model.Run // told what the proxy does, where its window fits the cache
}

func startReplay(t *testing.T, s *setup, seq *sequence) *replay {
	t.Helper()
	e := started(t, s.config(t, replayOrigin(t, seq.objects)))
	client, err := net.Dial("tcp", e.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	r := &replay{
		t: t, setup: s, seq: seq, edge: e, client: client, in: bufio.NewReaderSize(client, 64<<10),
		generation: 1, sighted: make([]uint32, len(seq.objects)),
	}
	if s.fitted() {
		r.follower = s.model(t, r.hashed())
	}
	return r
}

// replayOrigin answers each object with its size.
func replayOrigin(t *testing.T, objects []trace.Object) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	largest := int64(0)
	for _, o := range objects {
		largest = max(largest, o.Size)
	}
	zeros := make([]byte, largest)
	s := &fasthttp.Server{NoDefaultServerHeader: true, Handler: func(ctx *fasthttp.RequestCtx) {
		object, err := strconv.Atoi(strings.TrimPrefix(string(ctx.Path()), "/o/"))
		if err != nil || object >= len(objects) {
			ctx.SetStatusCode(fasthttp.StatusNotFound)
			return
		}
		ctx.Response.Header.Set("Cache-Control", "max-age=86400")
		ctx.Response.SetBodyRaw(zeros[:objects[object].Size])
	}}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Shutdown()
		if err := <-done; err != nil {
			t.Errorf("origin: %v", err)
		}
	})
	return l.Addr().String()
}

// run asks for everything, one request after the other, and tells what became of
// each.
func (r *replay) run(told func(n int, a trace.Access, got answer)) {
	r.t.Helper()
	for n, a := range r.seq.accesses {
		got, err := r.ask(a.Object, a.Head)
		if err != nil {
			r.t.Fatalf("request %d: %v", n, err)
		}
		told(n, a, got)
	}
}

// ask sends one request and reads the answer to its end. The proxy has stored
// the body before it lets the last byte go.
func (r *replay) ask(object uint32, head bool) (answer, error) {
	method := "GET"
	if head {
		method = "HEAD"
	}
	_ = r.client.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintf(r.client, "%s %s HTTP/1.1\r\nHost: %s\r\n\r\n", method, replayTarget(object), replayHost); err != nil {
		return 0, err
	}
	status, size := "", int64(-1)
	for {
		line, err := r.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "Cache-Status":
			status = string(value)
		case "Content-Length":
			if size, err = strconv.ParseInt(string(value), 10, 64); err != nil {
				return 0, err
			}
		}
	}
	if want := r.seq.objects[object].Size; size != want {
		return 0, fmt.Errorf("object %d: got %d bytes, want %d", object, size, want)
	}
	if head {
		return answerOf(status)
	}
	if _, err := io.CopyN(io.Discard, r.in, size); err != nil {
		return 0, err
	}
	return answerOf(status)
}

// settle waits, after a request that has filled the filter, until that has been
// rotated: another goroutine does it, and a model does it at once.
func (r *replay) settle(object uint32, got answer) {
	if r.setup.fitted() {
		r.settleFitted(object, got)
		return
	}
	if r.sighted[object] == r.generation {
		return
	}
	r.sighted[object] = r.generation
	if r.keys++; r.keys < r.setup.keys || !r.setup.remembers() {
		return
	}
	r.await("the rotation of a full filter", func() bool { return r.rotations() == int64(r.generation) })
	r.generation++
	r.keys = 0
}

// settleFitted does so for a window that fits the cache: a model that is told of the same C
// says when it rotates.
func (r *replay) settleFitted(object uint32, got answer) {
	r.follower.Sight(trace.Access{Object: object})
	if got == answeredStored || got == answeredHeldBack || got == answeredOutweighed {
		r.fills++
		r.await(fmt.Sprintf("fill %d", r.fills), func() bool { return r.filled() == r.fills })
		r.follower.Holds(r.edge.gate.Objects())
	}
	want := r.follower.Result().Rotations
	r.await(fmt.Sprintf("rotation %d, as the model has them,", want), func() bool { return r.rotations() == want })
}

// filled returns how many fills the proxy has accounted for.
func (r *replay) filled() int64 {
	f := r.edge.proxy.Status().Totals.Fills
	return f.Stored + f.HeldBack
}

// await waits for what another goroutine does. That is seldom long in coming.
func (r *replay) await(what string, done func() bool) {
	r.t.Helper()
	for range 1000 {
		if done() {
			return
		}
		runtime.Gosched()
	}
	if !testkit.ComesTrue(done) {
		r.t.Fatalf("%s did not come; the gate has C %d and %d rotations", what, r.edge.gate.Objects(), r.rotations())
	}
}

// rotations returns how often the filter was rotated.
func (r *replay) rotations() int64 {
	for _, f := range r.edge.gate.Stats(time.Now()) {
		return f.Rotations.Full + f.Rotations.Fitted
	}
	return 0
}

// hashed returns the objects under the proxy's own hash of their keys.
func (r *replay) hashed() []trace.Object {
	out := make([]trace.Object, len(r.seq.objects))
	for i, o := range r.seq.objects {
		k := r.key(uint32(i))
		out[i] = trace.Object{Size: o.Size, Hi: k.Hi, Lo: k.Lo}
	}
	return out
}

func (r *replay) name(object uint32) []byte {
	return wire.AppendKey(nil, "http", []byte(replayHost), []byte(replayTarget(object)))
}

func (r *replay) key(object uint32) cache.Key { return r.edge.proxy.Hasher.Sum(r.name(object)) }

// tally is what a replay comes to.
type tally struct {
	Requests, Hits, HeldBack, Writes, WriteBytes, OriginRequests, OriginBytes int64
}

// tally returns what the proxy has counted. Its books are closed once the last
// request is recorded.
func (r *replay) tally() tally {
	r.t.Helper()
	r.await("the record of the last request", func() bool { return r.edge.proxy.InFlight() == 0 })
	requests, stored := r.edge.proxy.Status().Totals, r.edge.store.Stats()
	return tally{
		Requests: requests.Requests, Hits: requests.Results["hit"], HeldBack: requests.Fills.HeldBack,
		Writes: stored.Writes, WriteBytes: stored.WriteBytes, OriginRequests: r.metric("edgeproxy_origin_requests_total"), OriginBytes: r.metric("edgeproxy_origin_bytes_total"),
	}
}

// metric returns the sum over the series of a counter.
func (r *replay) metric(name string) (sum int64) {
	r.t.Helper()
	families, err := r.edge.Metrics().Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name {
				sum += int64(m.GetCounter().GetValue())
			}
		}
	}
	return sum
}

// evictions returns how many entries had to go.
func (r *replay) evictions() int64 {
	s := r.edge.store.Stats()
	return s.Capacity + s.Rejected + s.Variants
}

// foretold returns what simulate says of the same.
func foretold(t *testing.T, log string, s *setup, more ...string) tally {
	t.Helper()
	results := simulated(t, append(append(s.flags(), more...), log)...)
	// The baseline comes with it.
	if s.policy != policy.Always && len(results) > 1 {
		results = results[1:]
	}
	if len(results) != 1 {
		t.Fatalf("%s: got %d results of simulate, want 1", s.policy, len(results))
	}
	r := results[0]
	return tally{
		Requests: r.Requests, Hits: r.Hits, HeldBack: r.HeldBack, Writes: r.Writes, WriteBytes: r.WriteBytes,
		OriginRequests: r.OriginRequests, OriginBytes: r.OriginBytes,
	}
}

// simulated returns the results of the program's command simulate.
func simulated(t *testing.T, args ...string) []simulate.Result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testkit.Built(t), append([]string{"simulate", "--json"}, args...)...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil || said.Len() > 0 {
		t.Fatalf("simulate %q: got %v %s", args, err, said.String())
	}
	var doc struct {
		Results []simulate.Result `json:"results"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Results
}
