package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"edgeproxy/config"
	"edgeproxy/internal/edge"
)

// waitNotice is how often the command says that it still waits. It waits without limit: an operator who gets no answer does not know
// whether the file is in force.
const waitNotice = 10 * time.Second

func reloadCommand() *cobra.Command {
	var address, tokenFile string
	cmd := &cobra.Command{
		Use:   "reload [--admin ADDRESS] [--token-file FILE]",
		Short: "Make a running proxy reload its configuration file",
		Long: "Make a running proxy reload its configuration file, and wait for the end of it. Print which\n" +
			"settings have changed and which need a restart. The last line is applied, unchanged or refused.\n" +
			"A file with a mistake changes nothing: it is refused with each problem, and the exit code is 2.",
		Example: "  edgeproxy reload\n  edgeproxy reload --admin unix:/run/edgeproxy/admin.sock",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkAdmin("reload", address); err != nil {
				return err
			}
			token, err := tokenFor(tokenFile)
			if err != nil {
				return &usageError{fmt.Errorf("reload: %w", err)}
			}
			waiting := sayWaiting(cmd.ErrOrStderr(), waitNotice)
			done, err := askReload(cmd.Context(), address, token)
			waiting()
			if err != nil {
				return err
			}
			return reportReload(cmd.OutOrStdout(), done)
		},
	}
	cmd.Flags().StringVar(&address, "admin", config.Default().Admin.Address, "`ADDRESS` or URL of the proxy's admin listener")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "`FILE` with the admin listener's token (default: the environment variable "+tokenVariable+")")
	return cmd
}

// sayWaiting prints a line after each interval, until stop is called.
func sayWaiting(w io.Writer, each time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticks := time.NewTicker(each)
		defer ticks.Stop()
		for waited := each; ; waited += each {
			select {
			case <-done:
				return
			case <-ticks.C:
				_, _ = fmt.Fprintf(w, "edgeproxy: reload: no answer after %s: the proxy is still busy with the file\n", waited) // the answer is what matters
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// askReload asks the proxy at address to reload, and waits for the end of it.
func askReload(ctx context.Context, address, token string) (*edge.Reloaded, error) {
	status, text, err := post(ctx, address, "/reload", token, nil)
	if err != nil {
		if _, none := errors.AsType[*notReachedError](err); none {
			return nil, fmt.Errorf("reload: %w", err)
		}
		return nil, fmt.Errorf("reload: %w; whether the file was applied is not known: ask again, or see the log of the proxy", err)
	}
	if status != http.StatusOK {
		return nil, reloadError(refusalOf(address, "/reload", status, text))
	}
	var a edge.Reloaded
	if err := json.Unmarshal(text, &a); err != nil || a.File == "" {
		return nil, fmt.Errorf("reload: %s: %s", address, notOurs)
	}
	return &a, nil
}

// reloadError returns the error for a reload that was not done. That of a refused file ends with a line that says so, behind its problems.
func reloadError(why edge.Refusal) error {
	lines := append([]string{"reload: " + why.Error}, why.Problems...)
	if why.Result != edge.ResultRefused {
		return errors.New(strings.Join(lines, "\n"))
	}
	if len(why.Problems) > 0 {
		lines = append(lines, fmt.Sprintf("refused: %s; the configuration before stays in force", counted(len(why.Problems), "problem", "problems")))
	}
	return &refusedError{errors.New(strings.Join(lines, "\n"))}
}

// counted is a number of things in words.
func counted(n int, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + several
}

// refusedError says that the running proxy refused its file: exit code 2, without a pointer to the command's help.
type refusedError struct{ err error }

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// reportReload prints the result, one line for each setting. The last line says whether the file was applied.
func reportReload(w io.Writer, a *edge.Reloaded) error {
	var b strings.Builder
	fmt.Fprintf(&b, "reloaded: %s\n", a.File)
	for _, c := range a.Changed {
		fmt.Fprintf(&b, "changed: %s\n", changeText(c))
	}
	for _, c := range a.Restart {
		fmt.Fprintf(&b, "needs a restart: %s\n", changeText(c))
	}
	b.WriteString(a.Result + ": " + reloadSummary(a) + "\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("reload: %s, but the result could not be printed: %w", a.Result, err)
	}
	return nil
}

func reloadSummary(a *edge.Reloaded) string {
	if len(a.Changed) == 0 {
		return "no setting has changed; the files that settings name were read again"
	}
	out := counted(len(a.Changed), "setting has changed", "settings have changed")
	if len(a.Restart) > 0 {
		out += ", and " + counted(len(a.Restart), "needs a restart", "need a restart")
	}
	return out
}

// changeText returns the setting's path with its old and new value.
func changeText(c edge.Change) string {
	switch {
	case c.Old == "":
		return c.Path + ": now " + c.New
	case c.New == "":
		return c.Path + ": no longer " + c.Old
	}
	return c.Path + ": " + c.Old + " -> " + c.New
}
