package lxd

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"strings"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Trust says which certificate of the server is the right one. The first that is set counts;
// with none, the system's authorities do.
type Trust struct {
	Insecure    bool   // any
	CA          string // PEM of the authority that issued it, or of the certificate itself
	Fingerprint string // SHA-256 of the certificate, in hex
}

// Token is a trust token, as "lxc config trust add" prints it.
type Token struct {
	Text        string    // the whole token
	Fingerprint string    // of the certificate of the server that made it
	ExpiresAt   time.Time // zero: never
}

// ParseToken reads a trust token: JSON in base64.
func ParseToken(text string) (Token, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	var fields struct {
		Fingerprint string    `json:"fingerprint"`
		Secret      string    `json:"secret"`
		ExpiresAt   time.Time `json:"expires_at"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	if err != nil || fields.Secret == "" || fields.Fingerprint == "" {
		return Token{}, domain.Invalid("trust_token", "is not a trust token: give all of what \"lxc config trust add --name harvest\" prints")
	}
	return Token{Text: strings.TrimSpace(text), Fingerprint: strings.ToLower(fields.Fingerprint), ExpiresAt: fields.ExpiresAt}, nil
}

// fingerprintOf names a certificate.
func fingerprintOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// Fingerprint gives the fingerprint of a certificate in PEM, by which "lxc config trust list"
// shows it; "" where it is none.
func Fingerprint(certificate string) string {
	block, _ := pem.Decode([]byte(certificate))
	if block == nil {
		return ""
	}
	return fingerprintOf(block.Bytes)
}

// verifier judges the certificate that the server at host shows.
type verifier struct {
	host        string
	insecure    bool
	fingerprint string
	known       []*x509.Certificate // given as PEM
	roots       *x509.CertPool      // nil: the system's
}

func newVerifier(host string, trust Trust) (*verifier, error) {
	v := &verifier{host: host, insecure: trust.Insecure}
	switch {
	case trust.Insecure:
	case trust.CA != "":
		v.roots = x509.NewCertPool()
		for rest := []byte(trust.CA); ; {
			var block *pem.Block
			if block, rest = pem.Decode(rest); block == nil {
				break
			}
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, domain.Invalid("ca_cert", "holds what is no certificate: %s", err)
			}
			v.known = append(v.known, c)
			v.roots.AddCert(c)
		}
		if len(v.known) == 0 {
			return nil, domain.Invalid("ca_cert", "is not a certificate in PEM, which begins with -----BEGIN CERTIFICATE-----")
		}
	default:
		v.fingerprint = trust.Fingerprint
	}
	return v, nil
}

// wrongCertificate tells that the server shows another certificate than the right one.
type wrongCertificate struct {
	shown  string // its fingerprint
	reason string
}

func (e *wrongCertificate) Error() string {
	return "the server shows a certificate that is not the right one (fingerprint " + e.shown + "): " + e.reason
}

// verify is called for each connection, resumed ones too.
func (v *verifier) verify(state tls.ConnectionState) error {
	if v.insecure {
		return nil
	}
	leaf := state.PeerCertificates[0] // of a server there is one
	shown := fingerprintOf(leaf.Raw)
	if v.fingerprint != "" {
		if shown != v.fingerprint {
			return &wrongCertificate{shown, "Harvest joined it by the fingerprint " + v.fingerprint}
		}
		return nil
	}
	for _, c := range v.known {
		if c.Equal(leaf) {
			return nil // of a self-signed one the name does not matter: it is this very server
		}
	}
	between := x509.NewCertPool()
	for _, c := range state.PeerCertificates[1:] {
		between.AddCert(c)
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: v.roots, Intermediates: between, DNSName: v.host}); err != nil {
		return &wrongCertificate{shown, err.Error()}
	}
	return nil
}
