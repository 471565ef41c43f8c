package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"edgeproxy/internal/admission/policy"
	"edgeproxy/internal/lab/process"
	"edgeproxy/internal/lab/trace"
)

// forecast is the prediction of edgeproxy simulate for a policy with the same requests, capacities and settings. It
// does not model time: no request waits for another, and no two are concurrent.
type forecast struct {
	HitRatio     float64 `json:"hit_ratio"`
	ByteHitRatio float64 `json:"byte_hit_ratio"`
	Writes       int64   `json:"writes"`
	WriteBytes   int64   `json:"write_bytes"`
	DeviceBytes  int64   `json:"disk_write_bytes"`
}

// canForecast reports whether simulate is run: with a disk, and with a window that needs no times, because the replayed
// requests have none.
func (p *plan) canForecast() bool {
	return p.diskBytes > 0 && p.rotateEvery == nil && p.filterCapacity == 0
}

// forecast asks program, an edgeproxy, and returns what it says by policy.
func (p *plan) forecast(ctx context.Context, program string) (map[string]*forecast, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	requests, write := io.Pipe()
	go func() { _ = write.CloseWithError(p.replay.writeSeq(ctx, write)) }() // the error reaches simulate as a broken input
	var out bytes.Buffer
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, p.simulateArgs()...)
	cmd.SysProcAttr = process.Attributes(syscall.SIGKILL)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = requests, &out, &said
	err := cmd.Run()
	_ = requests.Close() // ends the writer if simulate has not read everything
	if err != nil {
		return nil, fmt.Errorf("get the forecast of edgeproxy simulate: %w\n%s", errors.Join(err, context.Cause(ctx)), said.String())
	}
	return readForecasts(&out)
}

// simulateArgs returns the arguments that give simulate the same settings as the proxies.
func (p *plan) simulateArgs() []string {
	size := func(n int64) string { return strconv.FormatInt(n, 10) + "B" }
	args := []string{
		"simulate", "--json", "--format", "seq", "--capacity", size(p.maxBytes), "--disk", size(p.diskBytes),
		"--window", "auto", "--policy", strings.Join(p.policies, ","), "--stage", size(p.stageBytes),
	}
	for _, name := range p.policies {
		rule := p.rule(name)
		if param := rule.Policy.Parameter(); param != nil {
			args = append(args, "--"+param.Flag(), policy.Number(param.Of(rule)))
		}
	}
	return append(args, "-")
}

// writeSeq writes the requests in the format seq, each object under its number.
func (r *replay) writeSeq(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	n := 0
	err := r.Each(ctx, func(batch []trace.Access) error {
		for _, a := range batch {
			n++
			fmt.Fprintf(out, "%d %d %d\n", n, a.Object, r.objects[a.Object].bytes)
		}
		return nil
	})
	return errors.Join(err, out.Flush())
}

// readForecasts reads the report of simulate.
func readForecasts(r io.Reader) (map[string]*forecast, error) {
	var report struct {
		Results []struct {
			Policy string `json:"policy"`
			forecast
		} `json:"results"`
	}
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, fmt.Errorf("read the report of edgeproxy simulate: %w", err)
	}
	out := map[string]*forecast{}
	for i := range report.Results {
		f := &report.Results[i]
		out[f.Policy] = &f.forecast
	}
	return out, nil
}
