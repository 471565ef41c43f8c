package main

import (
	"bufio"
	"cmp"
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
	o, err := parse(args, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "gotest:", err)
		return 2
	}
	if o.says != "" {
		fmt.Fprintln(stdout, o.says)
	}
	tally := os.Getenv("GOTEST_TALLY")
	if o.only != "" {
		tests, err := leftTo(o.only, tally)
		if err != nil {
			fmt.Fprintln(stderr, "gotest:", err)
			return 1
		}
		if len(tests) == 0 {
			fmt.Fprintf(stdout, "no test was left to this run\n0 passed, 0 failed\n")
			return 0
		}
		o.goTest = slicesOf(o.goTest, tests)
	}
	r := newReport(stdout)
	r.packages = countPackages(o.goTest)
	if err := goTest(o.goTest, r, stderr); err != nil {
		r.runFailed(err)
	}
	if o.again > 0 {
		r.again(o, stderr)
	}
	code := r.finish(os.Getenv("EDGEPROXY_TEST_ALL") == "1", o)
	if err := appendTally(tally, os.Getenv("GOTEST_STEP"), r); err != nil {
		fmt.Fprintln(stderr, "gotest:", err)
		return 1
	}
	return code
}

// goTest feeds the report. Its error is what go test itself ended with.
func goTest(args []string, r *report, stderr io.Writer) error {
	cmd := exec.Command(goCommand(), append([]string{"test", "-json"}, args...)...)
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

func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

// countPackages returns how many packages with tests the arguments name, or 0 where go list does not know. It is for the
// count that shows progress.
func countPackages(args []string) int {
	list := []string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}x{{end}}"}
	for i, a := range args {
		if strings.HasPrefix(a, "-tags") || !strings.HasPrefix(a, "-") && (i == 0 || args[i-1] != "-run") {
			list = append(list, a)
		}
	}
	out, err := exec.Command(goCommand(), list...).Output()
	if err != nil {
		return 0
	}
	return strings.Count(string(out), "x")
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
