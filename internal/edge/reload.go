package edge

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"edgeproxy/config"
	"edgeproxy/internal/edge/internal/watch"
)

// Reasons why a reload does not happen.
var (
	errDraining = errors.New("the proxy is shutting down")
	errNoFile   = errors.New("serve was started from flags, without a file: there is nothing to reload")
)

// reloader reloads the configuration file, one reload at a time, on a signal, on a request
// to the admin listener, or on a change of the file.
type reloader struct {
	edge   *Edge
	source Source // without a file a reload fails with errNoFile; its inputs are guarded by turn
	watch  *watch.Files

	turn   chan struct{} // a lock: holds one value while no reload runs
	closed chan struct{} // closed by close: no reload begins any more
	last   atomic.Pointer[ReloadStatus]
}

// ReloadStatus is the result of the last reload; before the first it is that of the start.
type ReloadStatus struct {
	File       string    `json:"file"`
	Successful bool      `json:"last_reload_successful"`
	Error      string    `json:"error,omitempty"` // the error of the last one
	Success    time.Time `json:"last_success"`
	Restart    []Change  `json:"needs_restart"` // settings of the file that are not in force
}

// Change is a setting with its old and new value, as the file writes them; "" if it has none.
type Change struct {
	Path string `json:"path"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// What became of a reload, in its document and in the log.
const (
	ResultApplied   = "applied"   // settings have changed
	ResultUnchanged = "unchanged" // the file was applied, and each live setting has the value that it had
	ResultRefused   = "refused"   // the file has mistakes: nothing has changed
)

// Reloaded is the document of a successful POST /reload.
type Reloaded struct {
	Result  string   `json:"result"` // ResultApplied or ResultUnchanged
	File    string   `json:"file"`
	Changed []Change `json:"changed"`
	Restart []Change `json:"needs_restart"` // differ from the values in force
}

// Refusal is the document of a failed POST /reload. Nothing has changed.
type Refusal struct {
	Result   string   `json:"result,omitempty"` // ResultRefused; "" if the file was not read
	Error    string   `json:"error"`
	Problems []string `json:"problems,omitempty"` // FILE:LINE:COL: key: value: what is wanted
}

// newReloader returns the reloader of e. The configuration of e was loaded from the source from.
func newReloader(e *Edge, from Source) *reloader {
	r := &reloader{edge: e, source: from, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	r.turn <- struct{}{}
	r.last.Store(&ReloadStatus{File: from.File, Successful: true, Success: e.started.UTC().Round(time.Millisecond), Restart: []Change{}})
	e.registry.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_config_last_reload_successful", Help: "1 if the last reload was applied, or there was none; 0 if the file was refused.",
		}, func() float64 {
			if r.last.Load().Successful {
				return 1
			}
			return 0
		}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_config_last_reload_success_timestamp_seconds", Help: "When the configuration in force was applied.",
		}, func() float64 { return float64(r.last.Load().Success.UnixMilli()) / 1000 }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "edgeproxy_config_needs_restart_settings", Help: "Settings of the file that wait for a restart.",
		}, func() float64 { return float64(len(r.last.Load().Restart)) }),
	)
	return r
}

// start watches the file and what it includes.
func (r *reloader) start() {
	if r == nil || r.source.File == "" {
		return
	}
	w, err := watch.New(r.watched, r.changed, r.edge.panics.Quietly)
	if err != nil {
		r.edge.log.Warn("the configuration file is not watched; reload it with SIGHUP or edgeproxy reload", "error", err)
		return
	}
	r.watch = w
	r.changed() // they may have changed since the start read it
}

// close ends the watch, waits for a reload in progress, and lets no other begin.
func (r *reloader) close() {
	if r == nil {
		return
	}
	close(r.closed)
	if r.watch != nil {
		r.watch.Close()
	}
	<-r.turn
}

func (r *reloader) status() *ReloadStatus {
	if r == nil || r.source.File == "" {
		return nil
	}
	return r.last.Load()
}

// changed reloads if the files differ from what was read last.
func (r *reloader) changed() {
	if in, ok := r.inputs(); ok && in.Changed() {
		_, _ = r.reload("file") // the error is logged
	}
}

// watched returns the files and folders that were read last.
func (r *reloader) watched() (files, folders []string) {
	in, _ := r.inputs()
	return in.Files(), in.Folders()
}

// inputs returns what was read last. ok is false during shutdown.
func (r *reloader) inputs() (in config.Inputs, ok bool) {
	if r.acquire() != nil {
		return in, false
	}
	defer func() { r.turn <- struct{}{} }()
	return r.source.inputs, true
}

// acquire waits for turn. It fails with errDraining during shutdown.
func (r *reloader) acquire() error {
	if r.edge.draining.Load() {
		return errDraining
	}
	select {
	case <-r.turn:
		return nil
	case <-r.closed:
		return errDraining
	}
}

// reload applies the file. After an error nothing has changed. cause is for the log.
func (r *reloader) reload(cause string) (*Reloaded, error) {
	if r == nil || r.source.File == "" {
		return nil, errNoFile
	}
	if err := r.acquire(); err != nil {
		return nil, err
	}
	defer func() { r.turn <- struct{}{} }()
	r.edge.logNotifyError(r.edge.supervisor.Reloading())
	defer func() { r.edge.logNotifyError(r.edge.supervisor.Ready(r.verdict())) }()
	log, now := r.edge.log.With("cause", cause, "file", r.source.File), time.Now()
	c, err := r.load()
	var a *Reloaded
	if err == nil {
		a, err = r.edge.Apply(c)
	}
	status := *r.last.Load()
	if err != nil {
		log.Error("the configuration was not reloaded; the running one stays in force", "result", ResultRefused, "error", err)
		status.Successful, status.Error = false, err.Error()
		r.last.Store(&status)
		return nil, err
	}
	a.File = r.source.File
	status.Successful, status.Error, status.Success, status.Restart = true, "", now.UTC().Round(time.Millisecond), a.Restart
	r.last.Store(&status)
	for _, w := range Warnings(c) {
		log.Warn("configuration", "warning", w.String())
	}
	log.Info("configuration reloaded", "result", a.Result, "settings", len(a.Changed), "changed", paths(a.Changed), "seconds", time.Since(now).Seconds())
	if len(a.Restart) > 0 {
		log.Warn("changed settings need a restart", "settings", paths(a.Restart))
	}
	return a, nil
}

// Apply makes c the configuration in force, and returns what has changed. After an error nothing has. It delays no
// request, and a request in progress ends with the configuration that it began with. It is called between Listen and Stop, one
// call at a time, by the reloads of Options.Source or in their place.
func (e *Edge) Apply(c *config.Config) (*Reloaded, error) {
	before := e.now.Load().config
	err := validateBeside(c, e.config)
	if err == nil {
		err = e.apply(c)
	}
	if err != nil {
		return nil, err
	}
	return e.changes(before, c), nil
}

// changes returns what a reload that replaced the configuration before by c has changed.
func (e *Edge) changes(before, c *config.Config) *Reloaded {
	a := &Reloaded{Result: ResultUnchanged, Changed: []Change{}, Restart: []Change{}}
	for _, change := range config.Changes(before, c) {
		if change.Live {
			a.Changed = append(a.Changed, Change{change.Path, change.Old, change.New})
			a.Result = ResultApplied
		}
	}
	for _, change := range config.RestartChanges(e.config, c) {
		a.Restart = append(a.Restart, Change{change.Path, change.Old, change.New})
	}
	return a
}

// Reload reloads the configuration because of cause, such as the name of a signal, and waits for the end of it. After a
// failure nothing has changed. The log has the result.
func (e *Edge) Reload(cause string) {
	e.panics.Quietly(func() {
		_, err := e.reloader.reload(cause)
		if errors.Is(err, errNoFile) || errors.Is(err, errDraining) {
			e.log.Warn("the configuration was not reloaded", "cause", cause, "error", err)
		}
	})
}

// verdict describes the result of the last reload for the supervisor's status line.
func (r *reloader) verdict() string {
	if r.last.Load().Successful {
		return "serving"
	}
	return "serving with the previous configuration: the file was refused"
}

// load reads the files.
func (r *reloader) load() (*config.Config, error) {
	if err := checkRegular(r.source.File); err != nil {
		return nil, err
	}
	return r.source.Load()
}

// maxLoggedPaths bounds the settings that one line of the log names. The answer to a request names all.
const maxLoggedPaths = 100

// paths returns the settings' paths for the log.
func paths(changes []Change) []string {
	out := make([]string, 0, min(len(changes), maxLoggedPaths)+1)
	for i, c := range changes {
		if i == maxLoggedPaths {
			return append(out, fmt.Sprintf("and %d more", len(changes)-i))
		}
		out = append(out, c.Path)
	}
	return out
}

// serveRequest answers POST /reload: it is admin.Options.Reload.
func (r *reloader) serveRequest() (status int, answer any) {
	a, err := r.reload("request")
	refusal := Refusal{Result: ResultRefused}
	var faults config.Errors
	switch {
	case err == nil:
		return http.StatusOK, a
	case errors.Is(err, errDraining):
		status, refusal.Result = http.StatusServiceUnavailable, ""
	case errors.Is(err, errNoFile):
		status, refusal.Result = http.StatusConflict, ""
	case errors.As(err, &faults):
		status, refusal.Problems = http.StatusUnprocessableEntity, strings.Split(faults.Error(), "\n")
	default:
		status = http.StatusUnprocessableEntity
	}
	refusal.Error = "nothing has changed: " + err.Error()
	if len(refusal.Problems) > 0 {
		refusal.Error = "nothing has changed: the file is refused"
	}
	return status, refusal
}
