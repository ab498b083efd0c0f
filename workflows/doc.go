// Package workflows holds the deterministic orchestration of Harvest, and nothing that
// reads a clock, a network, a disk, an environment or a random source.
//
// Each file holds one kind of workflow: its ID function, its input and result, the typed
// handles of the activities it calls with their options, and the workflow itself. Inputs
// carry ids and settings; everything that can grow is stored and passed by reference.
//
// # Catalogue
//
//	workflow            ID                  queue   messages  activities (local ones in brackets)
//	turn.query          turn/<id>           turns   cancel,   [turn.begin] turn.classify turn.compact model.generate
//	                                                action.   [tool.local] tool.run [tool.abandon] [turn.finish]
//	                                                decided   action.apply [action.close]
//	turn.afterword      afterword/<id>      turns   -         afterword.write
//	ingest.repository   ingest/<id>         ingest  cancel    [ingest.begin] ingest.sync [ingest.next]
//	  of a schedule:    watch/<repo>-<time>                   [ingest.fail_version] [ingest.finish]
//	ingest.version      ingest/<id>/<tag>   ingest  cancel    ingest.version
//	ingest.delete       ingest/<id>         ingest  -         [ingest.begin] ingest.drop [ingest.finish]
//	command.run         command/<id>        turns   cancel,   [command.look] [command.lapse] [command.cancel]
//	                                                command.
//	                                                finished
//	lxd.provision       provision/<id>      deploy  cancel    [provision.begin] lxd.network provision.token lxd.create
//	                                                          lxd.start lxd.wait lxd.install [provision.retry]
//	                                                          lxd.remove [provision.finish]
//
// The schedule of a watched repository is watch/<repo>. ingest.version is a child of
// ingest.repository, which continues as new every fifty versions.
//
// The queue names are those of Queues; in a single process all of them are one.
package workflows
