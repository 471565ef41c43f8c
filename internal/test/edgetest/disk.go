package edgetest

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// withDisk returns a text with a disk tier at path, unless it has one. The tier is small, because its index is made for its size. It takes
// no larger objects than the memory of the text, if that says how large they may be: with a disk and without one the same is stored.
func withDisk(text, path string) (string, error) {
	all := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		return "", fmt.Errorf("add a disk: %w", err)
	}
	if all == nil { // the text is empty
		all = map[string]any{}
	}
	cache, _ := all["cache"].(map[string]any)
	if cache["disk"] != nil {
		return text, nil
	}
	if cache == nil {
		cache = map[string]any{}
	}
	disk := map[string]any{"path": path, "max_bytes": "64MiB", "min_free": "0%"}
	if memory, _ := cache["memory"].(map[string]any); memory["max_object_bytes"] != nil {
		disk["max_object_bytes"] = memory["max_object_bytes"]
	}
	cache["disk"], all["cache"] = disk, cache
	out, err := yaml.Marshal(all)
	return string(out), err
}
