package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
)

// originTimeout bounds a change of a server's state, with the answer.
const originTimeout = 30 * time.Second

// originFlags are those of origin drain and origin ready.
type originFlags struct{ admin, tokenFile string }

func originCommand() *cobra.Command {
	var f originFlags
	cmd := &cobra.Command{
		Use:   "origin drain|ready ORIGIN SERVER",
		Short: "Take a server of an origin out of use, and back",
		Long: "Take a server of an origin out of use, and back, such as to update it. A drained server gets no new requests:\n" +
			"those in progress go on, and its health checks too. It is drained until it is ready again, or the proxy\n" +
			"is restarted. ORIGIN and SERVER are the names in edgeproxy status.",
		Example: "  edgeproxy origin drain app 10.0.0.11:9000\n  edgeproxy origin ready app 10.0.0.11:9000",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{errors.New("origin needs one of drain and ready")}
		},
	}
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.admin, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener")
	flags.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	cmd.AddCommand(f.stateCommand("drain", "Give a server no new requests"), f.stateCommand("ready", "Give a drained server requests again"))
	return cmd
}

// stateCommand returns the command that brings a server into a state.
func (f *originFlags) stateCommand(state, short string) *cobra.Command {
	return &cobra.Command{
		Use: state + " ORIGIN SERVER", Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return &usageError{fmt.Errorf("origin %s: needs ORIGIN and SERVER", state)}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkAdmin("origin "+state, f.admin); err != nil {
				return err
			}
			token, err := tokenFor(f.tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("origin %s: %w", state, err)}
			}
			is, err := askState(cmd.Context(), f.admin, token, serverState{Origin: args[0], Server: args[1], State: state})
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s: %s\n", is.Origin, is.Server, is.State); err != nil {
				return fmt.Errorf("origin %s: done, but the result could not be printed: %w", state, err)
			}
			return nil
		},
	}
}

// serverState is the body of POST /origins, and of its answer.
type serverState struct {
	Origin string `json:"origin"`
	Server string `json:"server"`
	State  string `json:"state"`
}

// askState sends the order to the admin listener at address. A 400 answer is a usageError.
func askState(ctx context.Context, address, token string, order serverState) (is serverState, err error) {
	body, _ := json.Marshal(order) // strings can be encoded
	ctx, cancel := context.WithTimeout(ctx, originTimeout)
	defer cancel()
	status, text, err := post(ctx, address, "/origins", token, body)
	if err != nil {
		return is, fmt.Errorf("origin %s: %w", order.State, err)
	}
	if status != http.StatusOK {
		err := fmt.Errorf("origin %s: %s", order.State, refusalOf(address, "/origins", status, text).Error)
		if status == http.StatusBadRequest {
			return is, &usageError{err}
		}
		return is, err
	}
	if err := json.Unmarshal(text, &is); err != nil || is.State == "" {
		return is, fmt.Errorf("origin %s: %s: %s", order.State, address, notOurs)
	}
	return is, nil
}
