package library_test

import (
	"slices"
	"testing"

	"github.com/harvest-engine/harvest/internal/domain"
	"github.com/harvest-engine/harvest/internal/library"
)

// noted are a project's notes, by title.
var noted = map[string]string{
	"Deployment window":              "Deploy to production on Tuesdays between six and eight, never on Fridays.",
	"Database password rotation":     "Passwords of the Postgres roles are rotated every quarter by the platform team.",
	"CreateTurn and idempotency":     "CreateTurn must stay one transaction: the key, the lock and the message.",
	"HARVEST_TOKEN in CI":            "The pipeline reads HARVEST_TOKEN from its own vault, not from the repository.",
	"Retry policy of payments":       "Charges are retried three times, ten seconds apart, and then handed to support.",
	"Styleguide":                     "Errors say what was being done; comments say why.",
	"Ceph-Cluster Berlin":            "Der Ceph-Cluster in Berlin hat drei Monitore; Wartung nur nachts.",
	"Sauvegarde de la base":          "La sauvegarde de la base de données est faite chaque nuit à deux heures.",
	"Контакты дежурных":              "Дежурный инженер отвечает по телефону круглосуточно.",
	"internal/postgres/create.go":    "This file holds the longest transaction; measure before you change it.",
	"Customer Acme":                  "Acme runs an air-gapped Kubernetes and takes releases on USB sticks.",
	"Load balancer timeouts":         "The load balancer closes idle connections after sixty seconds.",
	"Canonical Kubernetes upgrade":   "Upgrade one control plane node at a time, and drain it first.",
	"Feature flags of the dashboard": "The dashboard's flags live in flags.yaml, and are read at start.",
}

func TestNotesThatFitAreOfferedAndOthersNot(t *testing.T) {
	t.Parallel()
	store, project := shelf(t)
	memories := library.NewMemories(store)
	for title, content := range noted {
		if _, err := memories.Create(t.Context(), domain.Memory{ProjectID: project, Title: title, Content: content}, ada); err != nil {
			t.Fatal(err)
		}
	}
	for question, want := range map[string]string{ // "": no note at all
		"When may I deploy to production?":                              "Deployment window",
		"How often is the database password rotated?":                   "Database password rotation",
		"Why is CreateTurn a single transaction?":                       "CreateTurn and idempotency",
		"Where does the pipeline get HARVEST_TOKEN from?":               "HARVEST_TOKEN in CI",
		"What happens when a payment charge is retried?":                "Retry policy of payments",
		"Wann ist die Wartung des Ceph-Clusters in Berlin?":             "Ceph-Cluster Berlin",
		"À quelle heure se fait la sauvegarde de la base de données ?":  "Sauvegarde de la base",
		"Как позвонить: дежурный инженер по телефону":                   "Контакты дежурных",
		"What should I know about internal/postgres/create.go?":         "internal/postgres/create.go",
		"Which idle connections does the load balancer close?":          "Load balancer timeouts",
		"How do I upgrade a control plane node of Kubernetes?":          "Canonical Kubernetes upgrade",
		"Please describe the moon landing of 1969":                      "",
		"Wie wird das Wetter morgen?":                                   "",
		"What is it that there is and was, and why and how, and who is": "",
		"Who painted the ceiling?":                                      "",
		"func main() { fmt.Println(os.Args) }":                          "",
	} {
		list, err := memories.Recall(t.Context(), project, question)
		if err != nil {
			t.Fatal(err)
		}
		var titles []string
		for _, m := range list {
			titles = append(titles, m.Title)
		}
		switch {
		case want == "" && len(titles) > 0:
			t.Errorf("%q is offered %q, want nothing", question, titles)
		case want != "" && (len(titles) == 0 || titles[0] != want):
			t.Errorf("%q is offered %q, want %q first", question, titles, want)
		case len(titles) > 2:
			t.Errorf("%q is offered %q, most of which have nothing to do with it", question, titles)
		case slices.Contains(titles, "Styleguide"):
			t.Errorf("%q is offered the style guide", question)
		}
	}
}
