package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run starts go test, reports what it says and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	r := newReport(stdout)
	if err := goTest(args, r, stderr); err != nil {
		r.runFailed(err)
	}
	code := r.finish(os.Getenv("EDGEPROXY_TEST_ALL") == "1")
	if err := appendTally(os.Getenv("GOTEST_TALLY"), r.results); err != nil {
		fmt.Fprintln(stderr, "gotest:", err)
		return 1
	}
	return code
}

// goTest feeds the report. Its error is what go test itself ended with.
func goTest(args []string, r *report, stderr io.Writer) error {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("pipe from go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start go test: %w", err)
	}
	readErr := readLines(out, r.line)
	if readErr != nil {
		// Nobody reads on, so a go test that goes on writing would never end.
		readErr = errors.Join(readErr, cmd.Process.Kill())
	}
	if err := cmd.Wait(); err != nil {
		return errors.Join(readErr, fmt.Errorf("go test: %w", err))
	}
	return readErr
}

// readLines calls each with every line of src, without a limit on its length:
// a test may log a whole body.
func readLines(src io.Reader, each func(line string)) error {
	in := bufio.NewReader(src)
	for {
		line, err := in.ReadString('\n')
		if line != "" {
			each(line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from go test: %w", err)
		}
	}
}

// appendTally adds one line per result to the file called name; no name, no file.
func appendTally(name string, results []result) error {
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the tally: %w", err)
	}
	var b strings.Builder
	for _, res := range results {
		fmt.Fprintf(&b, "%s\t%s\n", res.verdict, res.name)
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the tally: %w", err)
	}
	return nil
}
