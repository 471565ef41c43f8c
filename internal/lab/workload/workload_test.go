package workload

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWorkloadIsReadFromTheFolderOfTheTraces(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.tr": "1 x 100\n2 y 50\n3 x 100\n", "p.txt": "1\n10 0.9\n2\n10 0.1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := func(w Workload, model bool, objects int) {
		t.Helper()
		r, err := w.Load(t.Context(), dir)
		if err != nil || len(r.Objects) != objects || w.Model() != model {
			t.Fatalf("%+v: got an error of %v, a model: %v, must have %d objects", w, err, w.Model(), objects)
		}
	}
	f(Workload{Path: "a.tr"}, false, 2)
	f(Workload{Path: "popularity:p.txt,objects=20"}, true, 20)
	f(Workload{Path: "zipf:objects=9,requests=2000,exponent=0,one-hit=0"}, true, 9)
	f(Workload{Make: func() *Requests { return &Requests{} }}, true, 0)
	r, err := Workload{Path: "a.tr"}.Load(t.Context(), dir)
	if err != nil || r.Unique != 150 || len(r.Accesses) != 3 || r.Bytes(10) != 15 {
		t.Errorf("got %+v, %v, want 3 requests for 150 bytes", r, err)
	}
	if _, err := (Workload{Path: "none.tr"}).Load(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "none.tr") {
		t.Errorf("got %v, want the missing trace", err)
	}
}
