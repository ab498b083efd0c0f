package lxd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// identityLife is how long an identity is good for: LXD's own client makes its for as long.
const identityLife = 10 * 365 * 24 * time.Hour

// NewIdentity makes an identity by which LXD servers may know an installation: a key on the
// curve P-384, and a certificate that it signs itself.
func NewIdentity() (domain.LXDIdentity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		return domain.LXDIdentity{}, fmt.Errorf("make a key for LXD: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return domain.LXDIdentity{}, fmt.Errorf("make a key for LXD: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{Organization: []string{"Harvest"}, CommonName: "harvest"},
		NotBefore:    now.Add(-time.Hour), // clocks differ
		NotAfter:     now.Add(identityLife),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return domain.LXDIdentity{}, fmt.Errorf("make a certificate for LXD: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return domain.LXDIdentity{}, fmt.Errorf("make a key for LXD: %w", err)
	}
	return domain.LXDIdentity{
		Installation: domain.NewID(),
		Certificate:  string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})),
		Key:          string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
	}, nil
}
