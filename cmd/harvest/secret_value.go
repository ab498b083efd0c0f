package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/harvest-engine/harvest/internal/domain"
)

// secretValue reads the value of a secret: from a file, from the standard input ("-", or where
// that is no terminal), or asks for it on the terminal, where it does not show, twice. The end of a
// value's only line is not part of it; a text of several lines is taken as it is.
func (p *program) secretValue(from string) (domain.SecretValue, error) {
	if from == "" && term.IsTerminal(int(p.in.Fd())) {
		text, err := p.newSecret(bufio.NewReader(p.in), "Value")
		return checkedValue(text, err)
	}
	in := io.Reader(p.in)
	if from != "" && from != "-" {
		file, err := os.Open(from)
		if err != nil {
			return domain.SecretValue{}, domain.Wrap(domain.CodeInvalid, err, "the file %s can't be read", from)
		}
		defer file.Close()
		in = file
	}
	text, err := io.ReadAll(io.LimitReader(in, domain.MaxSecretValue+1)) // one more is too many
	if err != nil {
		return domain.SecretValue{}, fmt.Errorf("read the value: %w", err)
	}
	value := string(text)
	if line, rest, found := strings.Cut(value, "\n"); found && rest == "" {
		value = strings.TrimSuffix(line, "\r")
	}
	if value == "" && from == "" {
		return domain.SecretValue{}, domain.Errorf(domain.CodeInvalid, "no value was given: type it on a terminal, send it on the standard input, name its file, or have one made with --generate")
	}
	return checkedValue(value, nil)
}

func checkedValue(text string, err error) (domain.SecretValue, error) {
	value := domain.NewSecretValue(text)
	if err == nil {
		err = value.Check()
	}
	return value, err
}
