#include "bridge.h"

#include <time.h>

typedef struct {
  uint32_t row, column;
} TSPoint;

typedef struct {
  uint32_t context[4];
  const void *id;
  const TSTree *tree;
} TSNode;

typedef struct {
  const void *tree;
  const void *id;
  uint32_t context[3];
} TSTreeCursor;

typedef struct {
  void *payload;
  const char *(*read)(void *payload, uint32_t byte_index, TSPoint position, uint32_t *bytes_read);
  int encoding; // 0 is UTF-8
  uint32_t (*decode)(const uint8_t *string, uint32_t length, int32_t *code_point);
} TSInput;

typedef struct {
  void *payload;
  uint32_t current_byte_offset;
  bool has_error;
} TSParseState;

typedef struct {
  void *payload;
  bool (*progress_callback)(TSParseState *state);
} TSParseOptions;

extern TSParser *ts_parser_new(void);
extern void ts_parser_delete(TSParser *self);
extern bool ts_parser_set_language(TSParser *self, const TSLanguage *language);
extern TSTree *ts_parser_parse_with_options(TSParser *self, const TSTree *old_tree, TSInput input, TSParseOptions options);
extern void ts_parser_reset(TSParser *self);
extern void ts_tree_delete(TSTree *self);
extern TSNode ts_tree_root_node(const TSTree *self);
extern uint32_t ts_node_descendant_count(TSNode self);
extern uint16_t ts_node_symbol(TSNode self);
extern uint32_t ts_node_start_byte(TSNode self);
extern uint32_t ts_node_end_byte(TSNode self);
extern bool ts_node_is_named(TSNode self);
extern bool ts_node_is_missing(TSNode self);
extern TSTreeCursor ts_tree_cursor_new(TSNode node);
extern void ts_tree_cursor_delete(TSTreeCursor *self);
extern TSNode ts_tree_cursor_current_node(const TSTreeCursor *self);
extern uint16_t ts_tree_cursor_current_field_id(const TSTreeCursor *self);
extern bool ts_tree_cursor_goto_parent(TSTreeCursor *self);
extern bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *self);
extern bool ts_tree_cursor_goto_first_child(TSTreeCursor *self);
extern void ts_set_allocator(void *(*new_malloc)(size_t), void *(*new_calloc)(size_t, size_t),
                             void *(*new_realloc)(void *, size_t), void (*new_free)(void *));

// The library's Go binding routes every allocation through two language crossings; the C
// library's own allocator is what it ends in anyway.
void hv_plain_allocator(void) { ts_set_allocator(NULL, NULL, NULL, NULL); }

static uint64_t hv_cpu_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

TSParser *hv_parser(const TSLanguage *language) {
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, language)) {
    ts_parser_delete(parser);
    return NULL;
  }
  return parser;
}

void hv_parser_delete(TSParser *parser) { ts_parser_delete(parser); }

typedef struct {
  const char *text;
  uint32_t length;
} hv_text;

static const char *hv_read(void *payload, uint32_t at, TSPoint position, uint32_t *read) {
  (void)position;
  const hv_text *t = payload;
  if (at >= t->length) {
    *read = 0;
    return "";
  }
  *read = t->length - at;
  return t->text + at;
}

static bool hv_progress(TSParseState *state) {
  hv_budget *b = state->payload;
  if (__atomic_load_n(&b->canceled, __ATOMIC_RELAXED) != 0) {
    b->stopped = 1;
  } else if (b->checks == 0 || hv_cpu_time() - b->start > b->time) {
    b->stopped = 2;
  } else {
    b->checks--;
  }
  return b->stopped != 0;
}

TSTree *hv_parse(TSParser *parser, const char *text, uint32_t length, hv_budget *budget, uint32_t *nodes) {
  hv_text t = {text, length};
  budget->start = hv_cpu_time();
  TSInput input = {&t, hv_read, 0, NULL};
  TSParseOptions options = {budget, hv_progress};
  TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
  if (tree == NULL) {
    ts_parser_reset(parser); // or the next parse would go on with this text
    return NULL;
  }
  *nodes = ts_node_descendant_count(ts_tree_root_node(tree));
  return tree;
}

void hv_tree_delete(TSTree *tree) { ts_tree_delete(tree); }

static void hv_record(hv_node *out, TSNode node, uint16_t field, uint32_t parent) {
  out->start = ts_node_start_byte(node);
  out->end = ts_node_end_byte(node);
  out->next = 0;
  out->parent = parent;
  out->kind = ts_node_symbol(node);
  out->field = field;
  out->named = ts_node_is_named(node);
  out->broken = out->kind == UINT16_MAX ? 1 : ts_node_is_missing(node) ? 2 : 0;
}

// hv_flatten writes the tree's nodes into out, each before its children, and gives their
// number. It keeps no stack: a tree may be as deep as its text is long.
uint32_t hv_flatten(const TSTree *tree, hv_node *out, uint32_t cap) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  uint32_t n = 0, parent = 0;
  while (n < cap) {
    hv_record(&out[n], ts_tree_cursor_current_node(&cursor), ts_tree_cursor_current_field_id(&cursor), parent);
    uint32_t at = n++;
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      parent = at;
      continue;
    }
    out[at].next = n;
    while (at != 0 && !ts_tree_cursor_goto_next_sibling(&cursor)) {
      at = parent;
      parent = out[at].parent;
      out[at].next = n;
      if (!ts_tree_cursor_goto_parent(&cursor)) at = 0;
    }
    if (at == 0) break;
  }
  ts_tree_cursor_delete(&cursor);
  for (uint32_t i = 0; i < n; i++) {
    if (out[i].next == 0) out[i].next = n;
  }
  return n;
}
