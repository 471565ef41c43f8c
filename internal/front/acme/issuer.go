package acme

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// Time limits for requests to the authority.
const (
	requestTimeout = 30 * time.Second
	pollTimeout    = 90 * time.Second // for the validation of a challenge, and for an order to be ready
)

// issuer orders certificates. It is a certmagic.Issuer. It replaces certmagic.ACMEIssuer,
// which listens on its own addresses for challenges, and leaves connections and goroutines
// behind.
type issuer struct {
	challenges
	account account
	client  *acmez.Client
	http    *http.Client
	ending  context.Context // done when the Manager closes
}

func newIssuer(ending context.Context, o Options, files certmagic.Storage) *issuer {
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSClientConfig:       &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:   requestTimeout,
		ResponseHeaderTimeout: requestTimeout,
		IdleConnTimeout:       requestTimeout,
		ForceAttemptHTTP2:     true,
	}
	i := &issuer{ending: ending, http: &http.Client{Transport: transport, Timeout: requestTimeout}}
	i.client = &acmez.Client{
		Client: &acme.Client{
			Directory: o.Directory, HTTPClient: i.http, UserAgent: o.UserAgent, PollTimeout: pollTimeout,
		},
		ChallengeSolvers: map[string]acmez.Solver{},
	}
	if o.TLSALPN {
		i.client.ChallengeSolvers[acme.ChallengeTypeTLSALPN01] = &i.challenges
	}
	if o.HTTP {
		i.client.ChallengeSolvers[acme.ChallengeTypeHTTP01] = &i.challenges
	}
	i.account = account{client: i.client, files: files, folder: "acme/" + i.IssuerKey(), email: o.Email}
	return i
}

// IssuerKey implements certmagic.Issuer: each directory has its own stored files.
func (i *issuer) IssuerKey() string {
	u, err := url.Parse(i.client.Directory)
	if err != nil {
		return certmagic.StorageKeys.Safe(i.client.Directory)
	}
	return certmagic.StorageKeys.Safe(strings.Trim(u.Host+strings.ReplaceAll(u.Path, "/", "-"), "-"))
}

// Issue implements certmagic.Issuer.
func (i *issuer) Issue(ctx context.Context, csr *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	ctx, cancel := i.withEnding(ctx)
	defer cancel()
	chains, who, err := i.order(ctx, csr)
	if p, ok := errors.AsType[acme.Problem](err); ok && p.Type == acme.ProblemTypeAccountDoesNotExist {
		if err = i.account.forget(ctx, who); err == nil { // the authority no longer knows the account
			chains, _, err = i.order(ctx, csr)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(chains) == 0:
		return nil, errors.New("the authority offers no chain")
	}
	return &certmagic.IssuedCertificate{Certificate: chains[0].ChainPEM, Metadata: chains[0]}, nil
}

// order orders a certificate. It returns the offered chains and the account that was used.
func (i *issuer) order(ctx context.Context, csr *x509.CertificateRequest) ([]acme.Certificate, *acme.Account, error) {
	who, err := i.account.get(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("account: %w", err)
	}
	what, err := acmez.OrderParametersFromCSR(*who, csr)
	if err != nil {
		return nil, who, err
	}
	chains, err := i.client.ObtainCertificate(ctx, what)
	return chains, who, err
}

// GetRenewalInfo implements certmagic.RenewalInfoGetter.
func (i *issuer) GetRenewalInfo(ctx context.Context, c certmagic.Certificate) (acme.RenewalInfo, error) {
	ctx, cancel := i.withEnding(ctx)
	defer cancel()
	return i.client.GetRenewalInfo(ctx, c.Leaf)
}

// withEnding returns a context that ends with ctx, and when the Manager closes.
func (i *issuer) withEnding(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(i.ending, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

func (i *issuer) close() { i.http.CloseIdleConnections() }
