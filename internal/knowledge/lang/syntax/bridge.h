// The part of tree-sitter's public C interface that the bridge uses, and the bridge's own
// functions. The structs are those of tree-sitter 0.25; the module version is pinned, and
// TestBridgeMatchesTheLibrary compares the bridge with the library's own binding.
#ifndef HARVEST_BRIDGE_H
#define HARVEST_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;

// hv_node is one syntax node in the order in which the tree is walked.
typedef struct {
  uint32_t start, end; // bytes
  uint32_t next;       // index of the first node after this one's subtree
  uint32_t parent;
  uint16_t kind;
  uint16_t field;      // its role in the parent; 0 where it has none
  uint16_t named;
  uint16_t broken;     // 1: an error the parser stepped over, 2: a token it made up
} hv_node;

// hv_budget bounds one parse.
typedef struct {
  uint64_t checks;   // progress checks left
  uint64_t time;     // nanoseconds of the thread's CPU time
  uint64_t start;    // set by hv_parse
  int32_t canceled;  // set from another thread: stop
  int32_t stopped;   // why it stopped: 0 not, 1 canceled, 2 work used up
} hv_budget;

TSParser *hv_parser(const TSLanguage *language);
void hv_parser_delete(TSParser *parser);
TSTree *hv_parse(TSParser *parser, const char *text, uint32_t length, hv_budget *budget, uint32_t *nodes);
uint32_t hv_flatten(const TSTree *tree, hv_node *out, uint32_t cap);
void hv_tree_delete(TSTree *tree);
void hv_plain_allocator(void);

uint32_t ts_language_symbol_count(const TSLanguage *self);
const char *ts_language_symbol_name(const TSLanguage *self, uint16_t symbol);
int ts_language_symbol_type(const TSLanguage *self, uint16_t symbol);
uint32_t ts_language_field_count(const TSLanguage *self);
const char *ts_language_field_name_for_id(const TSLanguage *self, uint16_t id);

#endif
