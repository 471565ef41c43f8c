package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// startOnFreePorts calls start with two free addresses. If another process binds
// one first, it tries again with others. If what start has started does not become
// ready, start returns it together with an error.
func startOnFreePorts[P interface {
	comparable
	logTail() string
	Close() error
}](start func(listen, admin string) (P, error)) (P, error) {
	var none P
	var err error
	for range startAttempts {
		var listen, admin string
		if listen, admin, err = freeAddresses(); err != nil {
			return none, err
		}
		var p P
		if p, err = start(listen, admin); err == nil {
			return p, nil
		}
		if p == none {
			return none, err
		}
		closeErr := p.Close()
		if !strings.Contains(strings.ToLower(p.logTail()), "address already in use") {
			return none, errors.Join(err, closeErr)
		}
	}
	return none, err
}

// freeAddresses returns two loopback addresses that were free a moment ago.
func freeAddresses() (listen, admin string, err error) {
	var addrs [2]string
	for i := range addrs {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return "", "", fmt.Errorf("find a free port: %w", err)
		}
		defer ln.Close() // both are held until both are known, so they differ
		addrs[i] = ln.Addr().String()
	}
	return addrs[0], addrs[1], nil
}
