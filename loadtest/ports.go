package main

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// startOnFreePorts calls start with two free addresses. They are free when they
// are chosen; if somebody else is quicker to bind one, it tries again. start
// returns what it started together with an error if that did not become ready.
func startOnFreePorts[P interface {
	comparable
	said() string
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
		if !strings.Contains(strings.ToLower(p.said()), "address already in use") {
			return none, errors.Join(err, closeErr)
		}
	}
	return none, err
}

// freeAddresses returns two loopback addresses that nobody listened on just now.
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
