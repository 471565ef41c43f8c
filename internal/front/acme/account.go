package acme

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"sync"

	"github.com/caddyserver/certmagic"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// account is our account at the authority: a key, and the registration of that key. Both
// are files; without them the next order registers a new account.
type account struct {
	client *acmez.Client
	files  certmagic.Storage
	folder string
	email  string

	mu    sync.Mutex    // guards known; held while registering, so that only one order does it
	known *acme.Account // nil before the first order
}

func (a *account) keyFile() string  { return path.Join(a.folder, "account.key") }
func (a *account) dataFile() string { return path.Join(a.folder, "account.json") }

// get returns the account, and registers it first if need be. The caller must not change
// it.
func (a *account) get(ctx context.Context) (*acme.Account, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known != nil {
		return a.known, nil
	}
	found, err := a.load(ctx)
	if missing(err) {
		found, err = a.register(ctx)
	}
	if err != nil {
		return nil, err
	}
	a.known = &found
	return a.known, nil
}

// forget removes the account gone, so that the next order registers a new one with
// a new key. It does nothing if another order has replaced gone already.
func (a *account) forget(ctx context.Context, gone *acme.Account) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known != gone {
		return nil
	}
	a.known = nil
	return errors.Join(a.files.Delete(ctx, a.dataFile()), a.files.Delete(ctx, a.keyFile()))
}

func (a *account) load(ctx context.Context) (found acme.Account, err error) {
	data, err := a.files.Load(ctx, a.dataFile())
	if err != nil {
		return found, err
	}
	key, err := a.files.Load(ctx, a.keyFile())
	if err != nil {
		return found, err
	}
	if err := json.Unmarshal(data, &found); err != nil {
		return found, fmt.Errorf("%s: %w", a.dataFile(), err)
	}
	if found.PrivateKey, err = certmagic.PEMDecodePrivateKey(key); err != nil {
		return found, fmt.Errorf("%s: %w", a.keyFile(), err)
	}
	return found, nil
}

// register makes an account and stores it. It stores the key first: data without a key are
// not an account.
func (a *account) register(ctx context.Context) (acme.Account, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return acme.Account{}, err
	}
	made := acme.Account{PrivateKey: key, TermsOfServiceAgreed: true}
	if a.email != "" {
		made.Contact = []string{"mailto:" + a.email}
	}
	if made, err = a.client.NewAccount(ctx, made); err != nil {
		return made, err
	}
	secret, err := certmagic.PEMEncodePrivateKey(key)
	if err != nil {
		return made, err
	}
	data, err := json.Marshal(made)
	if err != nil {
		return made, err
	}
	if err := a.files.Store(ctx, a.keyFile(), secret); err != nil {
		return made, err
	}
	return made, a.files.Store(ctx, a.dataFile(), data)
}
