package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/admission"
	"edgeproxy/internal/edge"
	"edgeproxy/internal/ops/admin"
	"edgeproxy/internal/ops/sealed"
)

func stateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state",
		Short: "Take the sightings of another edge",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{errors.New("state needs fetch")}
		},
	}
	cmd.AddCommand(stateFetchCommand())
	return cmd
}

// fetchOptions are the flags of the command state fetch.
type fetchOptions struct {
	from, tokenFile       string
	config                string
	secretFile, stateFile string
	replace               bool
}

func stateFetchCommand() *cobra.Command {
	var o fetchOptions
	cmd := &cobra.Command{
		Use:   "fetch --from ADDRESS (-c FILE | --secret-file FILE --to FILE) [--replace] [--token-file FILE]",
		Short: "Take the sightings of another edge, for one that starts anew",
		Long: "Take the sightings of a running edge of the same site, and write them to the file that admission.state\n" +
			"names. An edge that starts with them stores from its first request on what the other has seen before,\n" +
			"and hashes its keys with the same seed. Both edges name a file with the same secret in fleet.secret_file:\n" +
			"what is sent is encrypted with it, so that it may cross a network.\n\n" +
			"Stop the edge that gets them: a running one would write its own over them. Its filters must be set as those\n" +
			"of the other; where they are not, they begin anew, and the log of the start says so.",
		Example: "  edgeproxy state fetch --from 10.0.0.7:9980 -c /etc/edgeproxy/edgeproxy.yaml",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return o.run(ctx, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&o.from, "from", "", "`ADDRESS` or URL of the other edge's admin listener")
	cmd.Flags().VarP(configTo(&o.config), "config", "c", "`FILE` of this edge: it names the secret and the file to write")
	cmd.Flags().StringVar(&o.secretFile, "secret-file", "", "`FILE` with the fleet's secret, in place of -c")
	cmd.Flags().StringVar(&o.stateFile, "to", "", "`FILE` to write, in place of -c")
	cmd.Flags().BoolVar(&o.replace, "replace", false, "write over sightings that are there")
	cmd.Flags().StringVar(&o.tokenFile, "token-file", "", "`FILE` with the token of the other edge's admin listener (default: the environment variable "+tokenVariable+")")
	return cmd
}

func (o *fetchOptions) run(ctx context.Context, out io.Writer) error {
	if err := o.complete(); err != nil {
		return err
	}
	token, err := tokenFor(o.tokenFile)
	if err != nil {
		return &usageError{fmt.Errorf("state fetch: %w", err)}
	}
	secret, err := sealed.ReadSecret(o.secretFile)
	if err != nil {
		return &usageError{fmt.Errorf("state fetch: %s: %w", o.secretFile, err)}
	}
	switch info, err := os.Lstat(o.stateFile); {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("state fetch: %s: must be a file, or nothing yet", o.stateFile)
	case err == nil && !o.replace:
		return fmt.Errorf("state fetch: %s is there: --replace takes the sightings of %s in place of those in it", o.stateFile, o.from)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("state fetch: %w", err)
	}
	st, err := o.fetch(ctx, token, secret)
	if err != nil {
		return fmt.Errorf("state fetch: %w", err)
	}
	defer st.Close()
	_, err = fmt.Fprintf(out, "%s: %s of sightings, %s old\n", o.stateFile, humanize.IBytes(uint64(st.Size())), max(time.Since(st.Saved()), 0).Round(time.Second)) //nolint:gosec // a size
	return err
}

// complete takes from the configuration what flags do not say.
func (o *fetchOptions) complete() error {
	files := o.secretFile != "" || o.stateFile != ""
	switch {
	case o.from == "":
		return &usageError{errors.New("state fetch needs --from, the address of the other edge's admin listener")}
	case o.config == "" && (o.secretFile == "" || o.stateFile == ""):
		return &usageError{errors.New("state fetch needs -c, or --secret-file and --to")}
	case o.config != "" && files:
		return &usageError{errors.New("state fetch: --secret-file and --to stand in place of -c, not beside it")}
	}
	if err := admin.CheckAddress(o.from); err != nil {
		return &usageError{fmt.Errorf("state fetch: --from %s: %w", o.from, err)}
	}
	if files {
		return nil
	}
	return o.filesOfConfig()
}

// filesOfConfig takes the files from the configuration.
func (o *fetchOptions) filesOfConfig() error {
	c, err := config.Load(o.config)
	if err != nil {
		return &usageError{err}
	}
	if c.Fleet.SecretFile == "" {
		return &usageError{config.Errors{c.Fault("fleet.secret_file", "must be a file with the secret that both edges have")}}
	}
	if c.Admission.State == "" {
		return &usageError{config.Errors{c.Fault("admission.state", "must be the file that this edge keeps its sightings in")}}
	}
	o.secretFile, o.stateFile = c.Fleet.SecretFile, c.Admission.State
	return nil
}

// fetch asks the other edge, and writes what it sends to the file.
func (o *fetchOptions) fetch(ctx context.Context, token string, secret sealed.Secret) (*admission.State, error) {
	nonce := sealed.NewNonce()
	proof, err := secret.Proof(edge.SightingsUse, nonce)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	silent := time.AfterFunc(fetchPause, stop)
	defer silent.Stop()
	const path = "/sightings"
	res, err := ask(ctx, o.from, http.MethodGet, fmt.Sprintf("%s?nonce=%x&proof=%x", path, nonce, proof), token, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, o.refusal(res, path)
	}
	opened, err := secret.Open(speaking{res.Body, silent}, edge.SightingsUse, nonce)
	if err != nil {
		return nil, o.sent(err)
	}
	st, err := admission.CopyState(o.stateFile, received{opened}, time.Now())
	if why, ok := errors.AsType[*receiveError](err); ok {
		return nil, o.sent(why.err)
	}
	if errors.Is(err, admission.ErrNoSightings) {
		return nil, fmt.Errorf("%s: it remembers no sightings: no route there has the policy second-hit or counting", o.from)
	}
	return st, err
}

// fetchPause is how long the other edge may be silent.
const fetchPause = 30 * time.Second

// speaking starts a timer anew with what comes.
type speaking struct {
	io.Reader
	silent *time.Timer
}

// Read reads on.
func (h speaking) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	h.silent.Reset(fetchPause)
	return n, err
}

// received marks what went wrong while the sightings came. Other errors are of the file.
type received struct{ io.Reader }

// Read reads on.
func (r received) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = &receiveError{err}
	}
	return n, err
}

type receiveError struct{ err error }

func (e *receiveError) Error() string { return e.err.Error() }
func (e *receiveError) Unwrap() error { return e.err }

// refusal returns the error for an answer that is no sightings.
func (o *fetchOptions) refusal(res *http.Response, path string) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	var said edge.Refusal
	if res.StatusCode == http.StatusNotFound && json.Unmarshal(text, &said) == nil && said.Error != "" {
		return fmt.Errorf("%s: it gives no sightings: set fleet.secret_file there", o.from)
	}
	return errors.New(refusalOf(o.from, path, res.StatusCode, text).Error)
}

// sent returns the error for sightings that did not come whole.
func (o *fetchOptions) sent(err error) error {
	switch {
	case errors.Is(err, sealed.ErrSealed):
		return fmt.Errorf("%s: what it sent cannot be used: %w", o.from, sealed.ErrSealed)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: it sent nothing for %s, or the command was interrupted", o.from, fetchPause)
	}
	return fmt.Errorf("%s: %w", o.from, err)
}
