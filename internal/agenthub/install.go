package agenthub

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"strings"
	"text/template"
	"time"

	"github.com/harvest-engine/harvest/internal/domain"
)

//go:embed install.sh
var installText string

// installScript is rendered with delimiters that bash has no use for.
var installScript = template.Must(template.New("install.sh").Delims("@{", "}@").Funcs(template.FuncMap{"quote": quote}).Parse(installText))

// errNoAddress says what an administrator is to do. The name by which a request reached this
// server is nothing that machines can be sent to: whoever asks chooses it.
const errNoAddress = "this server does not know the address under which machines reach it; set public_url under [agents]"

// Script renders the script that installs the agent of a project. It holds no secret:
// not_found where this server does not know its own address.
func (h *Hub) Script(projectID string) ([]byte, error) {
	if h.PublicURL == "" {
		return nil, domain.NotFound(errNoAddress)
	}
	all, err := h.binaries.all()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = installScript.Execute(&out, map[string]string{
		"Server": h.address(), "Project": projectID, "AMD64": all["amd64"].SHA256, "ARM64": all["arm64"].SHA256,
	})
	if err != nil {
		return nil, fmt.Errorf("render install.sh: %w", err)
	}
	return out.Bytes(), nil
}

func (h *Hub) address() string { return strings.TrimRight(h.PublicURL, "/") }

// Install makes an install token, and the command that installs the agent with it.
// not_configured where this server does not know its own address, even then ending the earlier
// tokens where that is asked for; invalid for a life or a
// number of uses that is out of bounds.
func (h *Hub) Install(ctx context.Context, order domain.InstallOrder) (domain.InstallCommand, error) {
	if h.PublicURL == "" && !order.Rotate {
		return domain.InstallCommand{}, domain.Errorf(domain.CodeNotConfigured, errNoAddress)
	}
	if order.Life == 0 {
		order.Life = domain.DefaultInstallLife
	}
	if order.Life < time.Second || order.Life > domain.MaxInstallLife {
		return domain.InstallCommand{}, domain.Invalid("expires_in_secs", "must be 1 to %d", int(domain.MaxInstallLife/time.Second))
	}
	if order.Uses < 0 || order.Uses > domain.MaxInstallUses {
		return domain.InstallCommand{}, domain.Invalid("uses", "must be 1 to %d; leave it out for any number of machines", domain.MaxInstallUses)
	}
	if order.Rotate {
		if err := h.Store.RevokeInstallTokens(ctx, order.ProjectID); err != nil {
			return domain.InstallCommand{}, err
		}
	}
	if h.PublicURL == "" { // a token that has leaked ends all the same
		return domain.InstallCommand{}, domain.Errorf(domain.CodeNotConfigured, "the install commands of this project have ended, but there is no new one: "+errNoAddress)
	}
	text, hash := domain.NewMachineToken(domain.InstallTokenPrefix)
	token := domain.InstallToken{
		ID: domain.NewID(), ProjectID: order.ProjectID, Hash: hash, CreatedBy: order.CreatedBy,
		CreatedAt: time.Now().UTC(), ExpiresAt: time.Now().UTC().Add(order.Life).Truncate(time.Second),
	}
	if order.Uses > 0 {
		token.UsesLeft = &order.Uses
	}
	if err := h.Store.AddInstallToken(ctx, token); err != nil {
		return domain.InstallCommand{}, err
	}
	script := quote(h.address() + "/agents/" + order.ProjectID + "/install.sh")
	// Both say why nothing came: what the shell behind them gets is empty then, and that is no error to it.
	run := " | sudo " + TokenVariable + "=" + text + " bash"
	return domain.InstallCommand{
		Command: "curl -fsSL " + script + run, Wget: "wget -nv -O- " + script + run,
		Uninstall: "curl -fsSL " + script + " | sudo bash -s -- --uninstall",
		ExpiresAt: token.ExpiresAt, Uses: token.UsesLeft,
	}, nil
}

// TokenVariable is what the script reads the token from.
const TokenVariable = "HARVEST_INSTALL_TOKEN"

// quote makes one word of a text, for a shell.
func quote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@%+=,") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
