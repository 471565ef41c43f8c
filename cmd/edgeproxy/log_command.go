package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/ops/accesslog"
)

// lookEvery is the interval at which a followed log is read.
const lookEvery = 250 * time.Millisecond

// logOptions are the flags of the command log.
type logOptions struct {
	all, once, raw     bool
	address, tokenFile string
}

func logCommand() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "log [FILE] [FILTER...]",
		Short: "Follow the access log, with filters",
		Long: "Follow the access log across rotations, and print a line for each request that meets all\n" +
			"filters. The log has to be in JSON, which is the default. Without a FILE, the admin listener\n" +
			"of a running proxy is asked for the path of its log.\n\n" +
			"A filter is FIELD=VALUE, or has another comparison: != > >= < <=. Numbers, times and seconds\n" +
			"have an order; seconds may be written as a duration. Quote what has < or > in it.\n\n" +
			"Fields: " + fieldNames() + ".",
		Example: "  edgeproxy log result=miss host=www.example.com\n" +
			"  edgeproxy log access.log 'status>=500' 'duration>250ms'\n" +
			"  edgeproxy log --all --once --json access.log reason=too-large",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			path, args := fileOfLog(args)
			var filters []logFilter
			for _, arg := range args {
				f, err := parseLogFilter(arg)
				if err != nil {
					return &usageError{fmt.Errorf("log: filter %w", err)}
				}
				filters = append(filters, f)
			}
			if path == "" {
				var err error
				if path, err = o.askPath(cmd.Context()); err != nil {
					return err
				}
			}
			t, err := openTail(path, o.all)
			if err != nil {
				return &usageError{fmt.Errorf("log: %w", err)}
			}
			defer func() { _ = t.Close() }()
			return followLog(cmd.Context(), t, o, filters, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().BoolVar(&o.all, "all", false, "start at the first line of the file instead of its end")
	cmd.Flags().BoolVar(&o.once, "once", false, "stop at the end of the file instead of waiting for more")
	cmd.Flags().BoolVar(&o.raw, "json", false, "print lines as they are in the log")
	cmd.Flags().StringVar(&o.address, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener, asked without a FILE")
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	return cmd
}

// fileOfLog returns the FILE of the arguments, "" if there is none, and the filters. A first argument with a comparison in it
// is a filter unless there is a file of that name.
func fileOfLog(args []string) (path string, filters []string) {
	if len(args) == 0 {
		return "", nil
	}
	if strings.ContainsAny(args[0], "<>=!") {
		if _, err := os.Stat(args[0]); err != nil {
			return "", args
		}
	}
	return args[0], args[1:]
}

// askPath asks the admin listener where the access log is.
func (o *logOptions) askPath(ctx context.Context) (path string, err error) {
	if err := checkAdmin("log", o.address); err != nil {
		return "", err
	}
	token, err := tokenFor(o.tokenFile)
	if err != nil {
		return "", &usageError{fmt.Errorf("log: %w", err)}
	}
	text, err := askStatus(ctx, "log", o.address, token)
	if err != nil {
		return "", fmt.Errorf("%w; or name the FILE of the access log", err)
	}
	var status edge.Status
	switch err := json.Unmarshal(text, &status); {
	case err != nil || status.Go == "":
		return "", fmt.Errorf("log: %s: %s", o.address, notOurs)
	case status.AccessLog == nil:
		return "", fmt.Errorf("log: the proxy at %s has no access log: set access_log.path, or name a FILE", o.address)
	case status.AccessLog.Path == "-":
		return "", fmt.Errorf("log: the access log of the proxy at %s is its standard output: name the FILE that this goes to", o.address)
	case accesslog.Remote(status.AccessLog.Path):
		return "", fmt.Errorf("log: the access log of the proxy at %s goes to %s: name the FILE in which that server has it", o.address, status.AccessLog.Path)
	}
	return status.AccessLog.Path, nil
}

// followLog prints the lines of t that meet the filters, until ctx ends or, with --once, to the end of the file.
func followLog(ctx context.Context, t *tail, o logOptions, filters []logFilter, stdout, stderr io.Writer) error {
	out := bufio.NewWriter(stdout)
	p := &logPrinter{out: out, raw: o.raw, filters: filters}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		err := t.read(p.line)
		if err = errors.Join(err, out.Flush()); err != nil {
			return fmt.Errorf("log: %w", err)
		}
		if p.malformed > 0 && !p.warned {
			p.warned = true
			_, _ = fmt.Fprintln(stderr, "edgeproxy: log: skipped a line that is not one JSON object; more such lines are skipped without a message. access_log.format: json writes such objects, combined and template do not")
		}
		if o.once {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// logPrinter prints lines of the access log.
type logPrinter struct {
	out       io.Writer // a bufio.Writer: its Flush returns the first error
	raw       bool
	filters   []logFilter
	malformed int // lines that are not one JSON object
	warned    bool
}

// line prints one line if it meets the filters. It skips text that is not exactly one JSON object: the
// access log has no such lines.
func (p *logPrinter) line(text []byte) {
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		p.malformed++
		return
	}
	for i := range p.filters {
		if !p.filters[i].matches(fields) {
			return
		}
	}
	if p.raw {
		_, _ = fmt.Fprintf(p.out, "%s\n", text)
		return
	}
	_, _ = io.WriteString(p.out, columns(fields)+"\n")
}

// columns formats a line as text.
func columns(fields map[string]any) string {
	text := func(name string) string { s, _ := fields[name].(string); return s }
	number := func(name string) float64 { n, _ := fields[name].(float64); return n }
	at := text("time")
	if _, clock, ok := strings.Cut(at, "T"); ok && len(clock) > len("15:04:05.000") {
		at = clock[:len("15:04:05.000")]
	}
	result := text("result")
	if why := text("reason"); why != "" {
		result += " (" + why + ")"
	}
	url := text("host") + text("target")
	if scheme := text("scheme"); scheme != "" {
		url = scheme + "://" + url
	}
	line := fmt.Sprintf("%-12s  %3.0f  %9s  %8s  %-15s  %s %s  %s", at, number("status"), humanBytes(number("bytes")),
		shortSeconds(number("duration")), text("client"), text("method"), url, result)
	if server := text("origin"); server != "" {
		line += fmt.Sprintf("  from %s in %s", server, shortSeconds(number("origin_first_byte")))
	}
	return escapeUnprintable(line)
}

// humanBytes formats a number of bytes with a unit.
func humanBytes(n float64) string {
	if n < 0 || n > 1<<62 {
		return "?"
	}
	return humanize.IBytes(uint64(n))
}

// shortSeconds formats seconds with a unit.
func shortSeconds(s float64) string {
	switch {
	case s < 0.001:
		return fmt.Sprintf("%.0fµs", s*1e6)
	case s < 1:
		return fmt.Sprintf("%.1fms", s*1e3)
	}
	return fmt.Sprintf("%.2fs", s)
}

// escapeUnprintable writes characters that a terminal could act on as \uXXXX.
func escapeUnprintable(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
			continue
		}
		_, _ = fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}
