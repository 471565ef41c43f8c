package testkit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"
)

// browserPatience is how long a browser may take for one thing. A loaded machine needs longer for it than for a program of ours.
const browserPatience = 2 * Patience

// errBrowserGone is what a command gets whose browser has ended.
var errBrowserGone = errors.New("the browser has ended")

// Browser is Chromium without a window, driven by its DevTools protocol through two pipes. It is safe for concurrent use.
type Browser struct {
	stderr Buffer
	ended  chan struct{} // closed when nothing more comes from it

	patience time.Duration // for one command, and for its answer

	writing  sync.Mutex // above commands. Apart from mu, which read takes: a long command waits until the browser has read it
	commands commandPipe

	mu    sync.Mutex
	last  int64
	calls map[int64]chan devtoolsMessage // keys are numbers of commands that wait
	tabs  map[string]*Tab                // keys are sessions
}

// commandPipe is where commands go.
type commandPipe interface {
	io.WriteCloser
	SetWriteDeadline(t time.Time) error
}

// devtoolsMessage is a command, its answer, or an event.
type devtoolsMessage struct {
	ID      int64           `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// OpenBrowser starts Chromium, with a profile of its own and no name it could look up. At the end of the test it is stopped, and
// waited for. Without Chromium the test is skipped.
func OpenBrowser(tb testing.TB) *Browser {
	tb.Helper()
	program := Program(tb, "chromium", "chromium-browser", "google-chrome")
	b := &Browser{patience: browserPatience, ended: make(chan struct{}), calls: map[int64]chan devtoolsMessage{}, tabs: map[string]*Tab{}}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	profile := tb.TempDir()
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
		"--user-data-dir="+profile, "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-extensions", "--disable-default-apps", "--disable-breakpad", "--disable-background-timer-throttling",
		"--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--force-device-scale-factor=1", "--lang=en", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // which are 3 and 4 there
	cmd.Stderr, cmd.WaitDelay = &b.stderr, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children go with it
	err = cmd.Start()
	_, _ = theirIn.Close(), theirOut.Close()
	if err != nil {
		tb.Fatal(err)
	}
	b.commands = ourOut
	go b.read(ourIn)
	tb.Cleanup(func() {
		b.stop(cmd)
		_ = ourIn.Close() // or read would wait for a process that has left the group
		<-b.ended
		if !ComesTrue(func() bool { return os.RemoveAll(profile) == nil }) {
			tb.Errorf("the profile of the browser cannot be removed")
		}
	})
	return b
}

// stop ends the browser and the processes of its group, which may write to its profile until then.
func (b *Browser) stop(cmd *exec.Cmd) {
	_ = b.call("", "Browser.close", nil, nil)
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait()
	_ = b.commands.Close()
}

// read hands out what comes, until nothing more does.
func (b *Browser) read(in io.Reader) {
	defer close(b.ended)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m devtoolsMessage
		if json.Unmarshal(line[:len(line)-1], &m) != nil {
			continue
		}
		b.mu.Lock()
		if answer, ok := b.calls[m.ID]; ok {
			delete(b.calls, m.ID)
			answer <- m
		} else if tab := b.tabs[m.Session]; tab != nil {
			tab.note(m)
		}
		b.mu.Unlock()
	}
}

// call gives a command and waits for its answer.
func (b *Browser) call(session, method string, params, result any) error {
	if params == nil {
		params = struct{}{}
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan devtoolsMessage, 1)
	b.mu.Lock()
	b.last++
	id := b.last
	b.calls[id] = answer
	b.mu.Unlock()
	text, err := json.Marshal(devtoolsMessage{ID: id, Session: session, Method: method, Params: raw})
	if err != nil {
		return err
	}
	if err := b.command(append(text, 0)); err != nil {
		return fmt.Errorf("%s: %w: %s", method, err, b.stderr.String())
	}
	return b.await(method, answer, result)
}

// command writes a command. A browser that does not read it in time gets no further one: it may have a part of it.
func (b *Browser) command(text []byte) error {
	b.writing.Lock()
	defer b.writing.Unlock()
	err := b.commands.SetWriteDeadline(time.Now().Add(b.patience))
	if err == nil {
		_, err = b.commands.Write(text)
	}
	if err != nil {
		_ = b.commands.Close()
	}
	return err
}

func (b *Browser) await(method string, answer <-chan devtoolsMessage, result any) error {
	late := time.NewTimer(b.patience)
	defer late.Stop()
	select {
	case m := <-answer:
		if m.Error != nil {
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	case <-b.ended:
		return fmt.Errorf("%s: %w: %s", method, errBrowserGone, b.stderr.String())
	case <-late.C:
		return fmt.Errorf("%s: no answer in %v", method, b.patience)
	}
}

// Open opens a page in a tab that shares nothing with others, in a window of this width. It returns before the page has loaded.
func (b *Browser) Open(tb testing.TB, url string, width int) *Tab {
	tb.Helper()
	t := &Tab{tb: tb, browser: b}
	var context struct {
		ID string `json:"browserContextId"`
	}
	t.must(b.call("", "Target.createBrowserContext", nil, &context))
	tb.Cleanup(func() {
		_ = b.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": context.ID}, nil)
	})
	var target struct {
		ID string `json:"targetId"`
	}
	t.must(b.call("", "Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.ID}, &target))
	var session struct {
		ID string `json:"sessionId"`
	}
	t.must(b.call("", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &session))
	t.session = session.ID
	b.mu.Lock()
	b.tabs[t.session] = t
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		t.Call(domain+".enable", nil, nil)
	}
	t.Call("Emulation.setFocusEmulationEnabled", map[string]any{"enabled": true}, nil) // each tab behaves like the one in front
	t.Width(width)
	t.Go(url)
	return t
}
