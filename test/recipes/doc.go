// Package recipes runs the configurations of docs/recipes.md and docs/moving.md. It looks at what the pages say of
// each recipe, and compares what the origins of another proxy and of ours are asked for the same requests.
package recipes
