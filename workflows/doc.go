// Package workflows holds the deterministic orchestration of Harvest, and nothing that
// reads a clock, a network, a disk, an environment or a random source.
//
// Each file holds one kind of workflow: its ID function, its input and result, the typed
// handles of the activities it calls with their options, and the workflow itself. Inputs
// carry ids and settings; everything that can grow is stored and passed by reference.
//
// # Catalogue
//
//	workflow            ID                  queue   messages  activities
//	turn.query          turn/<id>           turns   cancel    turn.begin turn.classify turn.compact model.generate
//	                                                          tool.local tool.run tool.abandon turn.finish
//	ingest.repository   ingest/<id>         ingest  cancel    ingest.begin ingest.sync ingest.finish
//	  scheduled:        watch/<repo>-<time>                   (the schedule is watch/<repo>)
//	ingest.version      ingest/<id>/<tag>   ingest  cancel    ingest.version
//
// The queue names are those of Queues; in a single process all of them are one.
package workflows
