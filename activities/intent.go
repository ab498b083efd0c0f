package activities

import (
	"regexp"
	"strings"

	"github.com/harvest-engine/harvest/internal/domain"
)

// The words by which a first message tells what it wants.
var (
	actionVerbs = words(`run deploy redeploy restart start stop destroy provision install uninstall apply delete remove create
		execute launch kill reboot upgrade rollback scale migrate configure`)
	lookWords = words(`where what which who whom whose how why when does do is are can find show list explain describe
		compare trace search locate summarize summarise document read outline tell give`)
	smallTalk = words(`hi hello hey yo thanks thank thx cheers bye goodbye morning afternoon evening good great nice cool ok okay
		you very much so the a welcome please sup hallo danke there harvest and all everyone for your help`)
	greetings = words(`hi hello hey yo thanks thank thx cheers bye goodbye morning sup hallo danke`)

	// codeToken is what code looks like in prose: calls, paths, qualified and mixed-case names.
	codeToken = regexp.MustCompile("`[^`]+`" + `|\w+\(\)?|\w+\.\w+|\w+::\w+|\w+/\w+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\w+_\w+`)
	wordToken = regexp.MustCompile(`[\pL\pN']+`)
)

const (
	// maxSmallTalk is the longest message, in words, that can be nothing but courtesy.
	maxSmallTalk = 8
	// intentWindow is how much of a message, in bytes, is looked at: people say what they want
	// before what they paste.
	intentWindow = 8 << 10
)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// guessIntent tells the intent of a message by its words; "" where only a model can tell.
// In a conversation that has begun, only courtesy is told by words.
func guessIntent(d domain.Dialogue) domain.Intent {
	query := strings.TrimSpace(d.Turn.Query)
	if len(query) > intentWindow {
		query = strings.ToValidUTF8(query[:intentWindow], "")
	}
	tokens := wordToken.FindAllString(strings.ToLower(query), -1)
	attached := len(d.Message.Blocks) > 1
	if !attached && courtesy(tokens) {
		return domain.IntentConversational
	}
	if len(d.History) > 0 || d.Summary != "" {
		return ""
	}
	acts, looks := false, attached || codeToken.MatchString(query)
	for i, w := range tokens {
		first := i == 0 || i == 1 && (tokens[0] == "please" || tokens[0] == "now")
		after := i > 0 && (tokens[i-1] == "and" || tokens[i-1] == "then")
		acts = acts || actionVerbs[w] && (first || after)
		looks = looks || lookWords[w] && (first || after)
	}
	switch {
	case acts && looks:
		return domain.IntentHybrid
	case acts:
		return domain.IntentAction
	case looks:
		return domain.IntentResearch
	}
	return ""
}

// courtesy reports whether a message is a greeting or thanks and nothing else.
func courtesy(tokens []string) bool {
	if len(tokens) == 0 || len(tokens) > maxSmallTalk {
		return false
	}
	greets := false
	for _, w := range tokens {
		if !smallTalk[w] {
			return false
		}
		greets = greets || greetings[w]
	}
	return greets
}

// parseIntent reads a model's answer to the question for an intent.
func parseIntent(answer string) (domain.Intent, bool) {
	for _, w := range wordToken.FindAllString(strings.ToLower(answer), -1) {
		switch intent := domain.Intent(w); intent {
		case domain.IntentConversational, domain.IntentResearch, domain.IntentAction, domain.IntentHybrid:
			return intent, true
		}
	}
	return "", false
}

func intentEvent(intent domain.Intent) domain.NewEvent {
	return domain.NewPayload(domain.EventIntent, map[string]any{"mode": intent})
}
