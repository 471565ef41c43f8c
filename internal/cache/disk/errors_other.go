//go:build !unix

package disk

func readOnlyFS(error) bool { return false }

// noSpace tells no full file system from other errors here.
func noSpace(err error) error { return err }
