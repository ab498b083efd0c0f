package domain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
)

func TestBundles(t *testing.T) {
	t.Parallel()
	many := domain.Bundle{}
	for i := range domain.MaxBundleFiles + 1 {
		many[fmt.Sprintf("f%03d.tf", i)] = ""
	}
	cases := map[string]struct {
		content string
		says    string // "" where it is fit
	}{
		"fit":               {`{"main.tf":"a","modules/net/main.tf":"b",".terraform.lock.hcl":""}`, ""},
		"not an object":     {`["main.tf"]`, "JSON object"},
		"not JSON":          {`{"main.tf":`, "valid JSON"},
		"more than one":     {`{"a":"b"}{"c":"d"}`, "one JSON object"},
		"empty":             {`{}`, "1 to 200 files"},
		"too many":          {many.JSON(), "1 to 200 files"},
		"a number":          {`{"main.tf":1}`, "not a string"},
		"twice":             {`{"main.tf":"a","main.tf":"b"}`, "twice"},
		"twice but in case": {`{"main.tf":"a","Main.tf":"b"}`, "one file"},
		"file and folder":   {`{"a":"x","a/b":"y"}`, "as a file and as the folder"},
		"absolute":          {`{"/etc/passwd":"a"}`, "relative"},
		"out":               {`{"a/../../b":"a"}`, "relative"},
		"empty name":        {`{"a//b":"a"}`, "relative"},
		"this folder":       {`{"./a":"a"}`, "relative"},
		"backslash":         {`{"..\\a":"a"}`, "relative"},
		"drive":             {`{"c:a":"a"}`, "relative"},
		"line feed":         {`{"a\nb":"a"}`, "relative"},
		"turned":            {"{\"a\u202eft.nb\":\"a\"}", "relative"},
		"tool folder":       {`{"x/.Git/hooks/post-checkout":"a"}`, "relative"},
		"plugins":           {`{".terraform/x":"a"}`, "relative"},
		"a device":          {`{"modules/NUL.tf":"a"}`, "reserve"},
		"a port":            {`{"com1":"a"}`, "reserve"},
		"a short name":      {`{"GIT~1/config":"a"}`, "reserve"},
		"like a device":     {`{"null.tf":"a","console.tf":"b","com10.tf":"c","aux-net/main.tf":"d"}`, ""},
		"letters of one":    {`{"ſ.tf":"a","s.tf":"b"}`, "one file"},
		"long":              {`{"` + strings.Repeat("a", 256) + `":"a"}`, "relative"},
		"NUL":               {`{"a":"\u0000"}`, "not text"},
		"large":             {`{"a":"` + strings.Repeat("x", domain.MaxArtifactBytes) + `","b":"x"}`, "2097152 bytes"},
	}
	for name, c := range cases {
		b, err := domain.ParseBundle(c.content)
		if c.says == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if again, err := domain.ParseBundle(b.JSON()); err != nil || again.JSON() != b.JSON() {
				t.Errorf("%s does not come back: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(domain.PublicMessage(err), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
