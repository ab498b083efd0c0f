/* A small event loop. */
#ifndef LOOP_C
#define LOOP_C

#include <stdio.h>
#include <sys/epoll.h>
#include "loop.h"
#include "util/list.h"

#define MAX_EVENTS 64
/* The larger of two. */
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct loop;
typedef struct conn conn_t;
typedef unsigned long ticks;
typedef int (*event_cb)(struct loop *loop, void *data);

/** States of a connection. */
enum state {
	STATE_IDLE,
	STATE_OPEN = 4,
	STATE_CLOSED = MAX(1, 2),
};

typedef enum { LOW, HIGH } priority_t;

/* A timer. */
typedef struct {
	ticks at;
	event_cb callback;
	struct timer_node *next;
} timer_t_;

/* One connection. */
struct conn {
	int fd;
	enum state state;
	struct buffer *in, out;
	conn_t *peer;
	const struct conn_ops *ops;
	char name[32];
	union {
		int code;
		void *ptr;
	} u;
	struct {
		ticks last;
	} stats;
};

union value {
	long i;
	double d;
};

struct conn_ops {
	int (*read)(conn_t *c, char *buf, size_t len);
	void (*close)(conn_t *c);
};

static int read_all(conn_t *c, char *buf, size_t len);
extern int loop_debug;
int conn_accept(struct loop *l);
const char *state_name(enum state s);

static const struct conn_ops tcp_ops = {
	.read = read_all,
	.close = NULL,
};

int loop_debug = 0;
static struct loop *main_loop, *other_loops[4];
static const char *const names[] = { "idle", "open" };

/*
 * Creates a loop.
 */
struct loop *
loop_new(size_t size, event_cb cb)
{
	struct loop *l = xmalloc(sizeof(*l));
	if (!l)
		return NULL;
	list_init(&l->conns);
	l->cb = cb;
	cb(l, NULL);
	return l;
}

static inline void conn_free(conn_t *c)
{
	buffer_release(c->in);
	buffer_release(&c->out);
	if (c->ops && c->ops->close)
		c->ops->close(c);
	c->peer->ops->read(c->peer, c->name, sizeof(c->name));
	free(c);
}

static int read_all(conn_t *c, char *buf, size_t len)
{
	int n = 0, total = 0;
	conn_t conns[2];

	while ((n = read(c->fd, buf + total, len - total)) > 0) {
		total += n;
		if (total == (int)len)
			break;
	}
	conns[0].ops->read(&conns[0], buf, len);
	switch (c->state) {
	case STATE_OPEN:
		log_debug("open %d", total);
		break;
	default:
		goto fail;
	}
	return total;
fail:
	return -errno;
}

int loop_run(struct loop *l)
{
	struct epoll_event events[MAX_EVENTS];
	struct conn *c;
	union value v = { .i = 3 };

	for (int i = 0; i < MAX_EVENTS; i++) {
		struct timer *t = list_entry(l->timers.next, struct timer, node);
		timer_fire(t, now());
		c = container_of(events[i].data.ptr, struct conn, u);
		conn_free(c);
		(*l->cb)(l, (void *)&v);
	}
	list_for_each(c, &l->conns) {
		conn_touch(c);
	}
	do {
		step(l);
	} while (l->running);
	return dispatch(l, (struct request){ .kind = 1, .loop = l });
}

#ifdef HAVE_SIGNALS
static void on_signal(int sig) { (void)sig; loop_stop(main_loop); }

void loop_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	signal(SIGINT, on_signal);
	sigaction(SIGTERM, &sa, NULL);
}
#else
void loop_signals(void) {}
#endif

void *pool_get(struct pool *p, int (*fits)(const void *), ...);

unsigned long long checksum(const unsigned char data[], unsigned len)
{
	unsigned long long sum = 0;
	while (len--)
		sum = MAX(sum, rotate(sum) ^ data[len]);
	return sum;
}

int main(int argc, char **argv)
{
	struct loop *l = loop_new(argc, NULL);
	ticks started = now();
	return l ? loop_run(l) : usage(argv[0], started);
}

#endif /* LOOP_C */
