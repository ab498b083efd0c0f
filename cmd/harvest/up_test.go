package main

import (
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestPortsAreJudgedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]ports{
		"":                     {api: 0, ui: 0, temporal: 0, postgres: 0},
		"--port: -1 is no":     {api: -1, ui: 1, temporal: 2, postgres: 3},
		"--temporal-ui-port: ": {api: 1, ui: 65536, temporal: 2, postgres: 3},
		"--port and --postgres-port are both 8080": {api: 8080, ui: 1, temporal: 2, postgres: 8080},
	} {
		err := o.check()
		if want == "" && err != nil || want != "" && (domain.CodeOf(err) != domain.CodeInvalid || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v gives %v, want %q", o, err, want)
		}
	}
}

func TestServersOfTheEnvironmentAreAddresses(t *testing.T) {
	t.Parallel()
	for address, valid := range map[string]bool{
		"http://127.0.0.1:8080": true, "https://harvest.example.com": true, "nonsense": false, "harvest.example.com:80": false, "ftp://x": false, "http://": false,
	} {
		p := &program{env: func(name string) (string, bool) {
			return map[string]string{urlVariable: address, tokenVariable: "t"}[name], true
		}}
		base, _, err := p.find()
		if valid && (err != nil || base != address) || !valid && (domain.CodeOf(err) != domain.CodeInvalid || !strings.Contains(err.Error(), urlVariable)) {
			t.Errorf("%q gives %q, %v", address, base, err)
		}
	}
}
