package main

import (
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"edgeproxy/internal/test/testkit"
)

// How many functions and files a hit may go through, of the engine and of all rooms. A feature that most routes do not have belongs
// to the bits of its route (uses in internal/proxy/route.go), and does not make the way of a hit longer.
const (
	mostEngineFunctions, mostEngineFiles = 85, 28
	mostFunctions, mostFiles             = 235, 75
)

// TestAHitTookALongWay: a reader who followed a hit had to open 102 files.
func TestAHitTookALongWay(t *testing.T) {
	testkit.Slow(t, "it builds the program with coverage")
	testkit.Plain(t, "it starts the program")
	out, err := exec.Command("../../scripts/walk.sh", "hit").CombinedOutput()
	if err != nil {
		t.Fatalf("scripts/walk.sh: %v\n%s", err, out)
	}
	m := regexp.MustCompile(`(?m)^hit: (\d+) functions in (\d+) files; (\d+) in (\d+) of internal/proxy$`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("the walk does not say how long it is:\n%s", out)
	}
	for i, law := range []struct {
		what string
		most int
	}{{"functions", mostFunctions}, {"files", mostFiles}, {"functions of the engine", mostEngineFunctions}, {"files of the engine", mostEngineFiles}} {
		n, _ := strconv.Atoi(string(m[i+1]))
		if n < law.most/3 {
			t.Errorf("a hit goes through %d %s: must be more, so the walk is not whole", n, law.what)
		}
		if n > law.most {
			t.Errorf("a hit goes through %d %s, must be at most %d", n, law.what, law.most)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}
