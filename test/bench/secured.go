package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"edgeproxy/internal/lab/peers"
)

// secured are the works over TLS 1.3: hits by HTTP/2, which h2load asks for, handshakes, and bytes.
// There are none without nginx, the only peer here that does all of them.
func (f *field) secured() []work {
	if f.nginx == nil {
		return nil
	}
	hits := work{name: "hit of 1 KiB by HTTP/2"}
	handshakes, ofRSA := work{name: "handshake of TLS 1.3, ECDSA P-256"}, work{name: "handshake of TLS 1.3, RSA 2048"}
	resumed, bulk := work{name: "resumed handshake of TLS 1.3"}, work{name: "hit of 256 KiB by TLS 1.3"}
	program, err := exec.LookPath("h2load")
	for _, s := range []server{{edgeName, f.secure, f.edge.PID(), ""}, f.nginx.at(f.nginx.secure)} {
		sessions := tls.NewLRUClientSessionCache(1)
		for _, one := range []struct {
			of *work
			do func(ctx context.Context, d time.Duration) (int64, error)
		}{
			{&hits, func(ctx context.Context, _ time.Duration) (int64, error) { return h2load(ctx, program, s.address) }},
			{&handshakes, func(ctx context.Context, d time.Duration) (int64, error) {
				return shake(ctx, s.address, secureName, nil, d)
			}},
			{&ofRSA, func(ctx context.Context, d time.Duration) (int64, error) {
				return shake(ctx, s.address, rsaName, nil, d)
			}},
			{&resumed, func(ctx context.Context, d time.Duration) (int64, error) {
				return shake(ctx, s.address, secureName, sessions, d)
			}},
			{&bulk, func(ctx context.Context, d time.Duration) (int64, error) { return download(ctx, s.address, d) }},
		} {
			one.of.contenders = append(one.of.contenders, contender{name: s.name, pid: s.pid, ask: one.do})
		}
	}
	if err != nil {
		f.absent = append(f.absent, "h2load")
		return []work{handshakes, ofRSA, resumed, bulk}
	}
	return []work{hits, handshakes, ofRSA, resumed, bulk}
}

// The names of the two certificates.
const (
	secureName = "localhost"
	rsaName    = "rsa.localhost"
)

// dialTLS connects by TLS 1.3. Where sessions are given it resumes one, if there is one.
func dialTLS(ctx context.Context, address, name string, sessions tls.ClientSessionCache) (*tls.Conn, error) {
	dialer := tls.Dialer{
		NetDialer: &net.Dialer{Timeout: answerWait},
		Config: &tls.Config{ // certificates of our own
			InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"}, ServerName: name, ClientSessionCache: sessions,
		},
	}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("shake hands: %w", err)
	}
	return c.(*tls.Conn), nil
}

// shake makes one connection after the other for d, and returns how many. Each resumes a session
// where sessions are given, and none otherwise.
func shake(ctx context.Context, address, name string, sessions tls.ClientSessionCache, d time.Duration) (n int64, err error) {
	if sessions != nil {
		if err := get(ctx, address, sessions, 1, freshSize); err != nil { // the session comes with an answer
			return 0, err
		}
	}
	for until := time.Now().Add(d); time.Now().Before(until); n++ {
		c, err := dialTLS(ctx, address, name, sessions)
		if err != nil {
			return n, err
		}
		resumed := c.ConnectionState().DidResume
		if err := c.NetConn().Close(); err != nil { // with no word of TLS
			return n, fmt.Errorf("shake hands: %w", err)
		}
		if resumed != (sessions != nil) {
			return n, fmt.Errorf("shake hands: resumed is %v", resumed)
		}
	}
	return n, nil
}

// downloadSize is the size of what is downloaded, most of whose cost is that of its bytes.
const downloadSize = 256 << 10

// download asks for one page for d, on one connection, and returns how often.
func download(ctx context.Context, address string, d time.Duration) (n int64, err error) {
	const batch = 16
	for until := time.Now().Add(d); time.Now().Before(until); n += batch {
		if err := get(ctx, address, nil, batch, downloadSize); err != nil {
			return n, err
		}
	}
	return n, nil
}

// get asks for a page of a size n times on one connection.
func get(ctx context.Context, address string, sessions tls.ClientSessionCache, n, size int) error {
	c, err := dialTLS(ctx, address, secureName, sessions)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	p, from := pages(size)[0], bufio.NewReaderSize(c, 64<<10)
	for range n {
		if _, err := c.Write(p.request(secureName)); err != nil {
			return fmt.Errorf("ask by TLS: %w", err)
		}
		r, err := http.ReadResponse(from, nil)
		if err != nil {
			return fmt.Errorf("read an answer by TLS: %w", err)
		}
		got, err := io.Copy(io.Discard, r.Body)
		if err != nil || got != int64(size) || r.StatusCode != http.StatusOK {
			return fmt.Errorf("read an answer by TLS: got %d, %d bytes, %w", r.StatusCode, got, err)
		}
	}
	return nil
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
		return 0, fmt.Errorf("h2load: %d requests must succeed, got\n%.800s", h2loadRequests, out)
	}
	return h2loadRequests, nil
}

// certified is a certificate of our own, as files.
type certified struct{ certificate, key string }

// selfSigned writes a certificate of ECDSA P-256 and one of RSA 2048, and their keys, into dir.
func selfSigned(dir string) (ofECDSA, ofRSA certified, err error) {
	short, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certified{}, certified{}, fmt.Errorf("make a key: %w", err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return certified{}, certified{}, fmt.Errorf("make a key: %w", err)
	}
	ofECDSA, err = sign(dir, secureName, short)
	ofRSA, err2 := sign(dir, rsaName, long)
	return ofECDSA, ofRSA, errors.Join(err, err2)
}

// sign writes a certificate for name, and its key.
func sign(dir, name string, private crypto.Signer) (certified, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return certified{}, fmt.Errorf("make a certificate: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return certified{}, fmt.Errorf("make a key: %w", err)
	}
	certificate, err := peers.WriteFile(dir, name+".certificate.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})))
	key, err2 := peers.WriteFile(dir, name+".key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return certified{certificate, key}, errors.Join(err, err2)
}
