package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
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
			return o.run(cmd.Context(), cmd.OutOrStdout())
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
	if _, err := os.Lstat(o.stateFile); err == nil && !o.replace {
		return fmt.Errorf("state fetch: %s is there: --replace takes the sightings of %s in place of those in it", o.stateFile, o.from)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
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
	const path = "/sightings"
	res, err := ask(ctx, o.from, http.MethodGet, path+"?nonce="+hex.EncodeToString(nonce), token, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
		var said edge.Refusal
		if res.StatusCode == http.StatusNotFound && json.Unmarshal(text, &said) == nil && said.Error != "" {
			return nil, fmt.Errorf("%s: it gives no sightings: set fleet.secret_file there", o.from)
		}
		return nil, errors.New(refusalOf(o.from, path, res.StatusCode, text).Error)
	}
	opened, err := secret.Open(res.Body, edge.SightingsUse, nonce)
	if err == nil {
		var st *admission.State
		if st, err = admission.CopyState(o.stateFile, opened, time.Now()); err == nil {
			return st, nil
		}
	}
	if errors.Is(err, sealed.ErrSealed) {
		return nil, fmt.Errorf("%s: what it sent cannot be used: %w", o.from, sealed.ErrSealed)
	}
	return nil, fmt.Errorf("%s: %w", o.from, err)
}
