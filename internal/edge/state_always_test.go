package edge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"edgeproxy/config"
)

// An operator who switches to the policy always for a while keeps admission.state, and the sightings in its file.
func TestAPolicyThatRemembersNothingLeavesTheStateAsItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sightings")
	run := func(policy string) []byte {
		t.Helper()
		c, err := config.Parse("edge.yaml", []byte("listen: [{address: \"127.0.0.1:0\"}]\nadmin: {address: \"127.0.0.1:0\"}\n"+
			"origins: {app: {servers: [\"http://127.0.0.1:9\"]}}\nadmission: {policy: "+policy+", state: "+path+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		e := started(t, c)
		e.Stop(t.Context())
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	before := run("second-hit")
	if after := run("always"); !bytes.Equal(before, after) {
		t.Errorf("got a file of %d bytes, other than the one of %d before", len(after), len(before))
	}
}
