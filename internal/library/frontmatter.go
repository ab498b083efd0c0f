package library

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/harvest-engine/harvest/internal/domain"
)

// Limits of a skill.
const (
	maxSkillName        = 64       // bytes
	maxSkillDescription = 1024     // characters
	maxSkillBytes       = 64 << 10 // of the whole document
)

var skillName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// document is a skill's text in its two parts.
type document struct {
	head *yaml.Node // a mapping; nil where there is no front matter
	body string
}

// parseDocument parts a skill's text. Lines may end in either way.
func parseDocument(content string) (document, error) {
	content = strings.TrimPrefix(strings.ReplaceAll(content, "\r\n", "\n"), "\uFEFF")
	rest, found := strings.CutPrefix(content, "---\n")
	if !found {
		return document{body: content}, nil
	}
	text, body, closed := strings.Cut("\n"+rest, "\n---\n")
	if !closed {
		if text, closed = strings.CutSuffix("\n"+rest, "\n---"); !closed {
			return document{}, domain.Invalid("content", "has a front matter that no line --- ends")
		}
	}
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		return document{}, domain.Wrap(domain.CodeInvalid, err, "content: the front matter is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(node.Content) != 1 || node.Content[0].Kind != yaml.MappingNode {
		return document{}, domain.Invalid("content", "has a front matter that is not a list of keys and values")
	}
	return document{node.Content[0], body}, checkKeys(node.Content[0])
}

// checkKeys refuses what readers of YAML understand differently.
func checkKeys(mapping *yaml.Node) error {
	seen := map[string]bool{}
	for i := 0; i < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return domain.Invalid("content", "has a front matter with the key %q twice, or with one that is not a word", key.Value)
		}
		seen[key.Value] = true
	}
	return nil
}

// field gives a text of the front matter, "" where it has none.
func (d document) field(name string) (string, error) {
	node := d.find(name)
	if node == nil {
		return "", nil
	}
	if node.Kind != yaml.ScalarNode || node.Tag != "!!str" {
		return "", domain.Invalid("content", "has a front matter whose %s is not a text", name)
	}
	return strings.TrimSpace(node.Value), nil
}

func (d document) find(name string) *yaml.Node {
	if d.head == nil {
		return nil
	}
	for i := 0; i < len(d.head.Content); i += 2 {
		if d.head.Content[i].Value == name {
			return d.head.Content[i+1]
		}
	}
	return nil
}

// set puts a text into the front matter.
func (d *document) set(name, value string) {
	if d.head == nil {
		d.head = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	node := &yaml.Node{}
	node.SetString(value)
	if old := d.find(name); old != nil {
		*old = *node
		return
	}
	key := &yaml.Node{}
	key.SetString(name)
	d.head.Content = append(d.head.Content, key, node)
}

// text joins the parts again.
func (d document) text() (string, error) {
	head, err := yaml.Marshal(d.head)
	if err != nil {
		return "", domain.Wrap(domain.CodeInvalid, err, "content: the front matter can't be written")
	}
	return "---\n" + string(head) + "---\n" + d.body, nil
}

// fit makes a skill's parts agree: the front matter holds name and description, and what is
// left empty beside it is taken from there. A document that agrees stays as it is, to the byte.
func fit(name, description, content string) (domain.Skill, error) {
	d, err := parseDocument(content)
	if err != nil {
		return domain.Skill{}, err
	}
	same := true
	for _, part := range []struct {
		name  string
		value *string
	}{{"name", &name}, {"description", &description}} {
		inside, err := d.field(part.name)
		if err != nil {
			return domain.Skill{}, err
		}
		*part.value = strings.TrimSpace(*part.value)
		if *part.value == "" {
			*part.value = inside
		}
		if inside != *part.value {
			same = false
			d.set(part.name, *part.value)
		}
	}
	if !same {
		if content, err = d.text(); err != nil {
			return domain.Skill{}, err
		}
	}
	return domain.Skill{Name: name, Description: description, Content: content}, checkSkill(name, description, content, d.body)
}

func checkSkill(name, description, content, body string) error {
	switch {
	case len(name) > maxSkillName || !skillName.MatchString(name):
		return domain.Invalid("name", "must be small letters and digits, in words joined by hyphens, at most %d", maxSkillName)
	case description == "" || utf8.RuneCountInString(description) > maxSkillDescription || strings.ContainsAny(description, "\n\r\x00"):
		return domain.Invalid("description", "must be one line of 1 to %d characters that says when to use the skill", maxSkillDescription)
	case strings.TrimSpace(body) == "":
		return domain.Invalid("content", "must have a text under its front matter")
	case strings.ContainsRune(content, 0) || !utf8.ValidString(content):
		return domain.Invalid("content", "is not text")
	case len(content) > maxSkillBytes:
		return domain.Errorf(domain.CodeTooLarge, "a skill may have %d bytes, not %d", maxSkillBytes, len(content))
	}
	return nil
}
