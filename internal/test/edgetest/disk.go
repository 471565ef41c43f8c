package edgetest

import (
	"fmt"

	"github.com/goccy/go-yaml"
)

// withDisk returns a text with a disk tier at path, unless it has one. The tier is small: its index is made for its size.
func withDisk(text, path string) (string, error) {
	all := yaml.MapSlice{}
	if err := yaml.Unmarshal([]byte(text), &all); err != nil {
		return "", fmt.Errorf("add a disk: %w", err)
	}
	tier := yaml.MapItem{Key: "disk", Value: yaml.MapSlice{{Key: "path", Value: path}, {Key: "max_bytes", Value: "64MiB"}, {Key: "min_free", Value: "0%"}}}
	for i, section := range all {
		if section.Key != "cache" {
			continue
		}
		of, ok := section.Value.(map[string]any)
		if !ok {
			return "", fmt.Errorf("add a disk: cache is a %T", section.Value)
		}
		if of["disk"] != nil {
			return text, nil
		}
		of["disk"] = tier.Value
		all[i].Value = of
		out, err := yaml.Marshal(all)
		return string(out), err
	}
	out, err := yaml.Marshal(append(all, yaml.MapItem{Key: "cache", Value: yaml.MapSlice{tier}}))
	return string(out), err
}
