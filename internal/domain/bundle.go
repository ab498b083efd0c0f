package domain

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bundle is the files of a Terraform or Terragrunt configuration: contents by path.
type Bundle map[string]string

// ParseBundle reads a bundle's JSON form, an object of paths and texts, and checks it. Errors
// name the field "content".
func ParseBundle(content string) (Bundle, error) {
	dec := json.NewDecoder(strings.NewReader(content))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, Invalid("content", "of a bundle must be a JSON object of paths and texts")
	}
	b := Bundle{}
	for dec.More() {
		name, err := dec.Token()
		path, _ := name.(string)
		if err != nil {
			return nil, Invalid("content", "is not valid JSON")
		}
		if _, twice := b[path]; twice {
			return nil, Invalid("content", "has the file %q twice", path)
		}
		var text any
		if err := dec.Decode(&text); err != nil {
			return nil, Invalid("content", "is not valid JSON")
		}
		file, isText := text.(string)
		if !isText {
			return nil, Invalid("content", "has a file %q that is not a string", path)
		}
		b[path] = file
	}
	if _, err := dec.Token(); err != nil || dec.More() {
		return nil, Invalid("content", "is not one JSON object")
	}
	return b, b.Check()
}

// Check reports what makes a bundle unfit: its size, or a path that could lead out of the
// folder that it is written to or that no file system takes.
func (b Bundle) Check() error {
	if len(b) == 0 || len(b) > MaxBundleFiles {
		return Invalid("content", "must have 1 to %d files, not %d", MaxBundleFiles, len(b))
	}
	size := 0
	taken := map[string]string{} // by what a file system that ignores case sees
	for _, path := range b.Paths() {
		size += len(b[path])
		if !safePath(path) {
			return Invalid("content", "has the path %q; paths must be relative, with / between names, without empty names, . or .., without hidden tool folders and names that some systems reserve, and at most %d bytes", path, MaxBundlePath)
		}
		key := strings.ToLower(strings.ToUpper(path)) // by way of capitals, which more letters share
		if other, clash := taken[key]; clash {
			return Invalid("content", "has %q and %q, which are one file where case is ignored", other, path)
		}
		taken[key] = path
		if strings.ContainsRune(b[path], 0) || !utf8.ValidString(b[path]) {
			return Invalid("content", "has a file %q that is not text", path)
		}
	}
	if size > MaxArtifactBytes {
		return Errorf(CodeTooLarge, "a bundle may have %d bytes in all, not %d", MaxArtifactBytes, size)
	}
	for key, path := range taken {
		for dir := parent(key); dir != ""; dir = parent(dir) {
			if file, isFile := taken[dir]; isFile {
				return Invalid("content", "has %q as a file and as the folder of %q", file, path)
			}
		}
	}
	return nil
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// reserved are names that mean something else on Windows, whatever they end in: devices, and the
// short name of .git.
var reserved = regexp.MustCompile(`(?i)^(?:(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\..*)?|git~[0-9]+)$`)

// safePath reports whether a path stays inside its folder and means the same everywhere.
func safePath(path string) bool {
	if path == "" || len(path) > MaxBundlePath || !utf8.ValidString(path) {
		return false
	}
	for _, r := range path {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`\:*?"<>|`, r) || invisible(r) {
			return false
		}
	}
	for name := range strings.SplitSeq(path, "/") {
		switch strings.ToLower(name) {
		case "", ".", "..", ".git", ".terraform", ".terragrunt-cache":
			return false
		}
		if strings.HasSuffix(name, ".") || strings.TrimSpace(name) != name || reserved.MatchString(name) {
			return false
		}
	}
	return true
}

// invisible reports whether a character shows nothing or turns the direction of a text, so
// that a path would not be what it looks like.
func invisible(r rune) bool {
	return r >= 0x80 && r <= 0x9f || r >= 0x200b && r <= 0x200f || r >= 0x2028 && r <= 0x202e || r >= 0x2060 && r <= 0x206f || r == 0xfeff
}

// Paths lists the files in order.
func (b Bundle) Paths() []string { return slices.Sorted(maps.Keys(b)) }

// JSON renders the bundle with its paths in order, so that equal bundles are equal texts.
func (b Bundle) JSON() string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(map[string]string(b)) // strings always encode
	return strings.TrimSuffix(out.String(), "\n")
}
