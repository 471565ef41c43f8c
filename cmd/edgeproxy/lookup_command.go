package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

// lookupTimeout bounds a look-up, which searches all of a large memory tier and may wait for the disk.
const lookupTimeout = 30 * time.Second

// lookupOptions are the flags of the command lookup.
type lookupOptions struct {
	address, tokenFile, method string
	fields                     []string
	json                       bool
}

func lookupCommand() *cobra.Command {
	var o lookupOptions
	cmd := &cobra.Command{
		Use:   "lookup URL [-H 'NAME: VALUE']... [--method METHOD] [--json]",
		Short: "Show what a running proxy has stored for a URL, and what a request for it would get",
		Long: "Ask the admin listener of a running proxy about one URL: which route and origin it has, what is\n" +
			"stored for it and where, each of its variants, how often it was requested within the window, and\n" +
			"what would become of the next request. Nothing changes: a look-up is no sighting, and does not keep\n" +
			"anything from being evicted. Whether an origin's response may be stored is not known before it comes.\n\n" +
			"With -H the request has the fields that the key or the responses vary by.\n\n" +
			"The exit code is 0 if a response is stored for the request, fresh or stale, and 1 if none is.",
		Example: "  edgeproxy lookup http://www.example.com/style.css\n" +
			"  edgeproxy lookup http://www.example.com/ -H 'Accept-Language: de' -H 'Accept-Encoding: gzip'\n" +
			"  edgeproxy lookup --json --admin unix:/run/edgeproxy/admin.sock https://www.example.com/",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{errors.New("lookup needs one URL, such as http://example.com/path?query")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAdmin("lookup", o.address); err != nil {
				return err
			}
			token, err := tokenFor(o.tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("lookup: %w", err)}
			}
			text, err := o.ask(cmd.Context(), args[0], token)
			if err != nil {
				return err
			}
			return o.show(text, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringArrayVarP(&o.fields, "header", "H", nil, "`FIELD` of the request, as NAME: VALUE; may be repeated")
	cmd.Flags().StringVar(&o.method, "method", http.MethodGet, "`METHOD` of the request")
	cmd.Flags().BoolVar(&o.json, "json", false, "print the JSON document of GET /lookup")
	cmd.Flags().StringVar(&o.address, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener")
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	return cmd
}

// ask returns the document of GET /lookup. What the listener finds wrong with the request is a usageError.
func (o *lookupOptions) ask(ctx context.Context, about, token string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	query := url.Values{"url": {about}, "method": {o.method}, "header": o.fields}
	status, text, err := call(ctx, o.address, http.MethodGet, "/lookup?"+query.Encode(), token, nil)
	if err != nil {
		return nil, fmt.Errorf("lookup: %w", err)
	}
	if status != http.StatusOK {
		err := errors.New("lookup: " + refusalOf(o.address, "/lookup", status, text).Error)
		if status == http.StatusBadRequest {
			return nil, &usageError{err}
		}
		return nil, err
	}
	return text, nil
}

// show prints the document text. The error is errNotStored if nothing is stored for the request.
func (o *lookupOptions) show(text []byte, w io.Writer) error {
	var a edge.Lookup
	if err := json.Unmarshal(text, &a); err != nil || a.Next.Result == "" {
		return fmt.Errorf("lookup: %s: %s", o.address, notOurs)
	}
	shown := string(text)
	if !o.json {
		shown = lookupScreen(&a)
	}
	if _, err := io.WriteString(w, shown); err != nil {
		return err
	}
	if a.Stored == nil || a.Stored.Purged == "yes" {
		return errNotStored
	}
	return nil
}

// errNotStored ends lookup with exit code 1. It is no failure, and the output has said it.
var errNotStored = errors.New("not stored")

// lookupScreen returns the document as text.
func lookupScreen(a *edge.Lookup) string {
	var b strings.Builder
	rows := []string{escapeUnprintable(a.Method + " " + a.URL), "next\t" + a.Next.Result + ": " + a.Next.Text}
	add := func(name, text string) {
		if text != "" {
			rows = append(rows, name+"\t"+escapeUnprintable(text))
		}
	}
	add("route", a.Route)
	add("policy", a.Policy)
	add("origin", a.Origin)
	if k := a.Key; k != nil {
		add("key", k.URL)
		add("part", k.Part)
		add("varies by", strings.Join(k.Vary, ", "))
		add("variant", k.Variant)
		add("sightings", sightingsText(a.Sightings))
		add("stored", storedText(a.Stored))
	}
	table(&b, rows...)
	if len(a.Variants) > 0 {
		rows = []string{"stored variants"}
		for i := range a.Variants {
			v := &a.Variants[i]
			rows = append(rows, escapeUnprintable(v.Variant)+"\t"+escapeUnprintable(storedText(&v.LookupStored)))
		}
		table(&b, rows...)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// sightingsText says how often the key was requested within the window.
func sightingsText(s *edge.LookupSightings) string {
	switch {
	case s == nil:
		return "" // the policy remembers none
	case s.Within == 0:
		return "none within the window"
	case s.Exact:
		return fmt.Sprintf("%d within the window", s.Within)
	}
	return "one or more within the window"
}

// storedText describes a stored response in a line.
func storedText(s *edge.LookupStored) string {
	if s == nil {
		return "no"
	}
	seconds := func(n float64) string { return roughDuration(time.Duration(n * float64(time.Second))) }
	fresh := "fresh for " + seconds(s.TTL)
	if s.TTL < 0 {
		fresh = "stale for " + seconds(-s.TTL)
	}
	parts := []string{"in the tier " + s.Tier, fmt.Sprintf("status %d", s.Status), sizeOf(s.Bytes), "age " + seconds(max(s.Age, 0)), fresh}
	switch {
	case len(s.TagNames) > 0:
		parts = append(parts, fmt.Sprintf("tags: %d (%s)", s.Tags, strings.Join(s.TagNames, " ")))
	case s.Tags > 0:
		parts = append(parts, fmt.Sprintf("tags: %d", s.Tags))
	}
	switch s.Purged {
	case "soft":
		parts = append(parts, "purged softly: it is validated before it is used")
	case "yes":
		parts = append(parts, "purged, and not removed yet")
	}
	return strings.Join(parts, ", ")
}
