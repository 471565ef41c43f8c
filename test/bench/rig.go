package main

import "errors"

// rig is what a measurement needs: the origin, and edgeproxy and the bare
// handler in processes of their own.
type rig struct {
	origin     *originServer
	edge, bare *process
}

func newRig(program string) (*rig, error) {
	r := &rig{}
	var err error
	if r.origin, err = startOrigin(); err != nil {
		return nil, err
	}
	if r.edge, err = startEdge(program, r.origin.address); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.bare, err = startBare(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close ends everything that was started.
func (r *rig) Close() error {
	var errs []error
	if r.bare != nil {
		errs = append(errs, r.bare.Close())
	}
	if r.edge != nil {
		errs = append(errs, r.edge.Close())
	}
	return errors.Join(append(errs, r.origin.Close())...)
}
