package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// secured are the works over TLS 1.3: hits by HTTP/2, which h2load asks for, and handshakes.
// There are none without nginx, the only peer here that does both.
func (f *field) secured() []work {
	if f.nginx == nil {
		return nil
	}
	edge := server{"edgeproxy", f.secure, f.edge.pid(), ""}
	peer := server{"nginx", f.nginx.secure, f.nginx.pid(), ""}
	shakes := work{name: "handshake of TLS 1.3"}
	hits := work{name: "hit of 1 KiB by HTTP/2"}
	program, err := exec.LookPath("h2load")
	for _, s := range []server{edge, peer} {
		shakes.contenders = append(shakes.contenders, contender{s.name, s.pid, func(ctx context.Context, d time.Duration) (int64, error) { return shake(ctx, s.address, d) }})
		hits.contenders = append(hits.contenders, contender{s.name, s.pid, func(ctx context.Context, _ time.Duration) (int64, error) { return h2load(ctx, program, s.address) }})
	}
	if err != nil {
		f.absent = append(f.absent, "h2load")
		return []work{shakes}
	}
	return []work{hits, shakes}
}

// shake makes one connection after the other for d, without resuming any, and returns how many.
func shake(ctx context.Context, address string, d time.Duration) (n int64, err error) {
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: answerWait},
		Config:    &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}}, // a certificate of our own
	}
	for until := time.Now().Add(d); time.Now().Before(until); n++ {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return n, fmt.Errorf("shake hands: %w", err)
		}
		if err := c.(*tls.Conn).NetConn().Close(); err != nil { // with no word of TLS
			return n, fmt.Errorf("shake hands: %w", err)
		}
	}
	return n, nil
}

// h2loadRequests is how many requests one run of h2load makes, by 8 connections of 16 streams.
const h2loadRequests = 8000

var h2loadDone = regexp.MustCompile(`(\d+) succeeded, (\d+) failed`)

// h2load asks for one page by HTTP/2.
func h2load(ctx context.Context, program, address string) (int64, error) {
	out, err := exec.CommandContext(ctx, program, "-t1", "-c8", "-m16", "-n"+strconv.Itoa(h2loadRequests),
		"https://"+address+pages(freshSize)[0].path).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("h2load: %w\n%.400s", err, out)
	}
	found := h2loadDone.FindSubmatch(out)
	if found == nil || !bytes.Equal(found[1], []byte(strconv.Itoa(h2loadRequests))) {
		return 0, fmt.Errorf("h2load: want %d requests to succeed, got\n%.800s", h2loadRequests, out)
	}
	return h2loadRequests, nil
}

// selfSigned writes a certificate of ECDSA P-256 and its key into dir.
func selfSigned(dir string) (certificate, key string, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		return "", "", fmt.Errorf("make a certificate: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return "", "", fmt.Errorf("make a key: %w", err)
	}
	certificate, err = writeFile(dir, "certificate.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})))
	key, err2 := writeFile(dir, "key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	if err := errors.Join(err, err2); err != nil {
		return "", "", err
	}
	return filepath.Clean(certificate), filepath.Clean(key), nil
}
