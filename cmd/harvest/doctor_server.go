package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"
	"go.temporal.io/api/operatorservice/v1"

	"github.com/harvest-engine/harvest/internal/config"
	"github.com/harvest-engine/harvest/internal/embedded"
	"github.com/harvest-engine/harvest/internal/llm"
	"github.com/harvest-engine/harvest/internal/llm/providers"
	"github.com/harvest-engine/harvest/internal/postgres"
	"github.com/harvest-engine/harvest/worker"
)

// examinePostgres asks the configured database for what harvest needs of it.
func (p *program) examinePostgres(ctx context.Context, cfg *config.Config) []finding {
	if cfg.Database.URL.Empty() {
		return examineOwnPostgres(ctx)
	}
	conn, err := postgres.Connect(ctx, cfg.Database.URL.Reveal())
	if err != nil {
		return fail("postgres", err, "check DATABASE_URL (postgres://user:password@host:port/database), and that the server runs")
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var number, connections int
	var trigrams bool
	err = conn.QueryRow(ctx, `select current_setting('server_version_num')::int, current_setting('max_connections')::int,
		exists (select from pg_available_extensions where name = 'pg_trgm')`).Scan(&number, &connections, &trigrams)
	if err != nil {
		return fail("postgres", err, "give the user the right to read settings")
	}
	f := finding{name: "postgres", detail: fmt.Sprintf("PostgreSQL %d at %s, %d connections", number/10000, conn.Config().Host, connections)}
	switch {
	case number < 140000:
		f.fault, f.remedy = true, "use PostgreSQL 14 or newer"
	case !trigrams:
		f.fault, f.remedy = true, "install the extension pg_trgm on the server (package postgresql-contrib)"
	case connections < 100:
		f.remedy = "raise max_connections to 100: a Temporal server and several processes share them"
	}
	return []finding{f}
}

// examineTemporal asks the configured Temporal for the namespace and its search attributes.
func (p *program) examineTemporal(ctx context.Context, cfg *config.Config) []finding {
	if cfg.Temporal.Address == "" {
		return examineOwnTemporal(embedded.DefaultCacheDir())
	}
	codec, err := worker.NewCodec(worker.Keyring{worker.NewKey()}) // nothing is decrypted here
	if err != nil {
		return fail("temporal", err, "this is a fault of harvest")
	}
	a := assembly{cfg: cfg, codec: codec, log: zerolog.Nop()}
	client, err := worker.Dial(ctx, a.connection(servers{temporal: cfg.Temporal.Address}))
	if err != nil {
		return fail("temporal", err, "check TEMPORAL_ADDRESS, [temporal] namespace, TLS and API key")
	}
	defer client.Close()
	f := finding{name: "temporal", detail: fmt.Sprintf("%s, namespace %s", cfg.Temporal.Address, cfg.Temporal.Namespace)}
	listed, err := client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: cfg.Temporal.Namespace})
	if err != nil {
		f.remedy = "the search attributes can't be listed (" + err.Error() + "); work goes on without them"
		return []finding{f}
	}
	var missing []string
	for kind, names := range map[string][]string{"Keyword": embedded.SearchKeywords, "KeywordList": embedded.SearchKeywordLists} {
		for _, name := range names {
			if _, ok := listed.CustomAttributes[name]; !ok {
				missing = append(missing, fmt.Sprintf("temporal operator search-attribute create --namespace %s --name %s --type %s", cfg.Temporal.Namespace, name, kind))
			}
		}
	}
	if len(missing) > 0 {
		f.remedy = "runs can't be found by their attributes until these are made:\n      " + strings.Join(missing, "\n      ")
	}
	return []finding{f}
}

// examineModels asks every model service for its models, which shows that its key works.
func examineModels(ctx context.Context, cfg *config.Config) []finding {
	var found []finding
	for _, block := range cfg.LLM {
		c := modelConfig(block)
		name := "model " + c.Identity()
		provider, err := providers.New(c)
		if err != nil {
			found = append(found, fail(name, err, "correct the [[llm]] block")...)
			continue
		}
		if c.Kind == llm.KindOffline {
			found = append(found, finding{name: name, detail: "no model: answers are put together by searching and reading the code",
				remedy: "add an [[llm]] block to have a model answer"})
			continue
		}
		models, err := provider.Models(ctx)
		if err != nil {
			found = append(found, fail(name, err, "check api_key and base_url of the [[llm]] block, and that the service can be reached")...)
			continue
		}
		found = append(found, finding{name: name, detail: offered(c, len(models))})
	}
	return found
}

// offered says what a provider is and how many models it names.
func offered(c llm.Config, models int) string {
	text := strings.TrimSpace(c.Kind + " " + c.Model)
	if models == 1 {
		return text + ", 1 model offered"
	}
	return fmt.Sprintf("%s, %d models offered", text, models)
}
