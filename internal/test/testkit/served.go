package testkit

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Served is the program while it serves.
type Served struct {
	Addresses []string // the data listeners'
	Admin     string
	Process   *os.Process
	Ended     <-chan struct{} // closed once the process is gone; State is set by then
	State     *os.ProcessState
}

// LogLine is what tests look at of a line of the program's log.
type LogLine struct {
	Message   string   `json:"msg"`
	Level     string   `json:"level"`
	Addresses []string `json:"addresses"`
	Admin     string   `json:"admin"`
}

// Serve starts cmd, whose standard error is the program's log, and waits until it says
// that it serves. heard gets every line, parsed where it is a line of JSON; if it returns
// false nothing more is read, and the pipe fills. The program is killed at the end of the
// test.
func Serve(tb testing.TB, cmd *exec.Cmd, heard func(LogLine, string) (goOn bool)) *Served {
	tb.Helper()
	log, stderr, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stderr = stderr
	err = cmd.Start()
	_ = stderr.Close()
	if err != nil {
		_ = log.Close()
		tb.Fatal(err)
	}
	s := &Served{Process: cmd.Process}
	serving, ended, read := make(chan LogLine, 1), make(chan struct{}), make(chan struct{})
	s.Ended = ended
	go func() {
		_ = cmd.Wait()
		s.State = cmd.ProcessState
		close(ended)
	}()
	go func() {
		defer close(read)
		for in := bufio.NewScanner(log); in.Scan(); {
			var l LogLine
			_ = json.Unmarshal(in.Bytes(), &l)
			if l.Message == "serving" {
				serving <- l
			}
			if !heard(l, in.Text()) {
				return
			}
		}
	}()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		<-read
		_ = log.Close()
	})
	select {
	case l := <-serving:
		s.Addresses, s.Admin = l.Addresses, l.Admin
	case <-ended:
		<-read
		tb.Fatalf("ended before it served: %v", s.State)
	case <-time.After(Patience):
		tb.Fatal("does not say that it serves")
	}
	return s
}
