package hostile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"edgeproxy/internal/test/testkit"
)

// TestCorpusOfTheProgram plays every case before the built program.
func TestCorpusOfTheProgram(t *testing.T) {
	testkit.Slow(t, "it starts the built program")
	testkit.Plain(t, "the program is not built for the detector; TestCorpus shows what there is to see")
	t.Parallel()
	path := testkit.Built(t)
	playAll(t, func(tb testing.TB, limit time.Duration) *rig {
		tb.Helper()
		return built(tb, path, limit)
	})
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := testkit.RemoveBuilt(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// built starts the program.
func built(tb testing.TB, path string, limit time.Duration) *rig {
	tb.Helper()
	o := startOrigin(tb)
	file := filepath.Join(tb.TempDir(), "hostile.yaml")
	if err := os.WriteFile(file, []byte(settings(o, limit)+"}\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	address, admin := serve(tb, path, file)
	return &rig{
		origin: o, address: address, ahead: true,
		counts: func() (counts, error) { return askCounts("http://" + admin + "/status") },
		idle:   func() (int, error) { return askIdle("http://" + admin + "/metrics") },
		purge: func() error {
			res, err := http.Post("http://"+admin+"/purge", "application/json", strings.NewReader(`{"all": true}`))
			if err == nil {
				err = res.Body.Close()
			}
			return err
		},
	}
}

// serve runs the program until the end of the test, and returns where it listens.
func serve(tb testing.TB, path, file string) (address, admin string) {
	tb.Helper()
	cmd := exec.Command(path, "serve", "-c", file)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan struct{})
	serving := make(chan [2]string, 1)
	var log []string // to be read after the end
	go func() {
		defer close(ended)
		for in := bufio.NewScanner(stderr); in.Scan(); {
			var l struct {
				Message   string `json:"msg"`
				Addresses []string
				Admin     string
			}
			if json.Unmarshal(in.Bytes(), &l) == nil && l.Message == "serving" {
				serving <- [2]string{l.Addresses[0], l.Admin}
				continue
			}
			log = append(log, in.Text())
		}
		_ = cmd.Wait()
	}()
	tb.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	select {
	case at := <-serving:
		return at[0], at[1]
	case <-ended:
		tb.Fatalf("the program ended before it served: %q", log)
	case <-time.After(patience):
		tb.Fatal("the program does not say that it serves")
	}
	return "", ""
}

// askCounts asks the admin listener.
func askCounts(url string) (counts, error) {
	res, err := http.Get(url)
	if err != nil {
		return counts{}, err
	}
	defer res.Body.Close()
	var s struct {
		Requests struct {
			InFlight int64 `json:"requests_in_flight"`
			Flights  int64
			Panics   int64
			Totals   struct{ Requests int64 }
		}
		Cache struct{ Writes int64 }
	}
	if err := json.NewDecoder(res.Body).Decode(&s); err != nil {
		return counts{}, err
	}
	r := s.Requests
	return counts{r.Totals.Requests, s.Cache.Writes, r.InFlight + r.Flights, r.Panics}, nil
}

var idleLine = regexp.MustCompile(`edgeproxy_origin_connections\{origin="app",state="idle"\} (\d+)`)

func askIdle(url string) (int, error) {
	res, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err
	}
	m := idleLine.FindSubmatch(text)
	if m == nil {
		return 0, errors.New("no metric of idle connections")
	}
	return strconv.Atoi(string(m[1]))
}
