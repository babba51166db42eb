/* What each function refuses, as fairwire.h documents it; run under sanitizers too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairwire.h"

static int failed = 0;
#define IS(left, right) is(__LINE__, #left, (long long)(left), (long long)(right))

static void is(int line, const char *what, long long left, long long right) {
  if (left == right) return;
  fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", __FILE__, line, what, left, right);
  failed = 1;
}

static fw_site site = {.rate_bps = 10000000, .buffer = "20 packets", .seed = 1, .packet_bytes = 1514};
static fw_packet packet = {.cookie = 0xfedcba9876543210u, .flow = 7, .len = 1000, .ecn = 2};

static fw_queue *built(const char *law, const char *parameters) {
  fw_queue *queue;
  char why[256];
  if (fw_build(FW_ABI_VERSION, law, parameters, &site, &queue, why, sizeof why) == FW_OK) return queue;
  fprintf(stderr, "%s: %s\n", law, why);
  exit(1);
}

static void refused_builds(void) {
  static const struct { int code; const char *law, *parameters, *part; } cases[] = {
      {FW_ERROR_NAME, "fabba", "", "did you mean `faba`?"},
      {FW_ERROR_NAME, "", "", "there is no law"},
      {FW_ERROR_TEXT, "red", "}{ garbage \001", "line 1"},
      {FW_ERROR_TEXT, "red", "gentel = true", "did you mean `gentle`?"},
      {FW_ERROR_TEXT, "red", "gentle = \"\xff\"", "not UTF-8"},
      {FW_ERROR_PARAMETER, "red", "max_probability = 7", "allowed"},
      {FW_ERROR_PARAMETER, "cake-like", "ack_filter = 'on'", "acknowledge"},
      {FW_ERROR_NULL, NULL, "", "`name` is null"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fw_queue *queue = (fw_queue *)&site;
    char why[1024] = "";
    int code = fw_build(FW_ABI_VERSION, cases[i].law, cases[i].parameters, &site, &queue, why, sizeof why);
    IS(code, cases[i].code);
    IS(queue == NULL, 1);
    if (strstr(why, cases[i].part) == NULL) fprintf(stderr, "%s\n", why), failed = 1;
    char small[5];
    memset(small, 'x', sizeof small);
    fw_build(FW_ABI_VERSION, cases[i].law, cases[i].parameters, &site, &queue, small, 4);
    IS(small[3], 0), IS(small[4], 'x');
    IS(fw_build(FW_ABI_VERSION, cases[i].law, NULL, NULL, &queue, NULL, 0), FW_ERROR_NULL);
  }
  fw_queue *queue;
  IS(fw_build(FW_ABI_VERSION + 1, "red", "", &site, &queue, NULL, 0), FW_ERROR_ABI);
  IS(fw_build(FW_ABI_VERSION, "red", "", &site, NULL, NULL, 0), FW_ERROR_NULL);
  static const fw_site wrong[] = {
      {.rate_bps = 0, .buffer = "20 packets", .packet_bytes = 1514},
      {.rate_bps = 1, .buffer = "20 apples", .packet_bytes = 1514},
      {.rate_bps = 1, .buffer = "99999999 packets", .packet_bytes = 1514},
      {.rate_bps = 1, .buffer = "20 packets", .packet_bytes = 0},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    IS(fw_build(FW_ABI_VERSION, "red", "", &wrong[i], &queue, NULL, 0), FW_ERROR_PARAMETER);
  fw_site no_buffer = {.rate_bps = 1, .packet_bytes = 1514};
  IS(fw_build(FW_ABI_VERSION, "red", "", &no_buffer, &queue, NULL, 0), FW_ERROR_NULL);
}

static void refused_calls(void) {
  fw_queue *queue = built("fq-codel", NULL);
  fw_event list[4];
  fw_events events = {.list = list, .room = 4, .count = 3};
  fw_packet out[300] = {{0}};
  uint64_t at;
  fw_backlog_size waiting;
  IS(fw_last_error(queue), FW_OK);
  IS(fw_enqueue(NULL, &packet, 0, NULL), FW_ERROR_NULL);
  IS(fw_enqueue(queue, NULL, 0, NULL), FW_ERROR_NULL);
  IS(fw_enqueue_batch(queue, out, 257, 0, &events), FW_ERROR_BATCH);
  IS(events.count, 0);
  IS(fw_enqueue_batch(queue, NULL, 0, 0, NULL), 0);
  IS(fw_dequeue_batch(queue, 0, out, 257, NULL), FW_ERROR_BATCH);
  IS(fw_dequeue(queue, 0, NULL, NULL), FW_ERROR_NULL);
  IS(fw_ready_at(queue, NULL), FW_ERROR_NULL);
  IS(fw_backlog(queue, NULL), FW_ERROR_NULL);
  IS(fw_inspect(queue, NULL, 1), FW_ERROR_NULL);
  IS(fw_set_weight(queue, 1, 0.0, NULL), FW_ERROR_WEIGHT);
  IS(fw_set_weight(queue, 1, 1.0, NULL), FW_ERROR_WEIGHT);
  IS(fw_last_error(queue), FW_ERROR_WEIGHT);
  for (int i = 0; i < 6; i++) {
    fw_packet wrong = packet;
    if (i == 0) wrong.len = 0;
    if (i == 1) wrong.len = (uint64_t)1 << 32;
    if (i == 2) wrong.len = ((uint64_t)1 << 32) + 1500;
    if (i == 3) wrong.ecn = 4;
    if (i == 4) wrong.dscp = 64;
    if (i == 5) wrong.color = 3;
    IS(fw_enqueue(queue, &wrong, 0, NULL), FW_ERROR_PACKET);
  }
  fw_packet batch[3] = {packet, packet, packet};
  batch[2].len = 0;
  IS(fw_enqueue_batch(queue, batch, 3, 1000, &events), 2); /* the third stays here */
  IS(fw_enqueue(queue, &packet, 999, NULL), FW_ERROR_TIME);
  IS(fw_enqueue(queue, &packet, UINT64_MAX, NULL), FW_ERROR_TIME);
  IS(fw_ready_at(queue, &at), 1);
  IS(fw_backlog(queue, &waiting), FW_OK);
  IS(waiting.packets, 2), IS(waiting.bytes, 2000);
  IS(fw_drain(queue, out, 1), FW_ERROR_ROOM);
  IS(fw_dequeue(queue, 2000, out, NULL), 1);
  IS(out[0].cookie == packet.cookie, 1), IS(out[0].arrived, 1000), IS(out[0].len, 1000), IS(out[0].ecn, 2);
  IS(fw_drain(queue, out, 300), 1);
  IS(fw_dequeue(queue, 2000, out, NULL), 0);
  IS(fw_ready_at(queue, &at), 0);
  fw_packet long_one = packet;
  long_one.len = UINT32_MAX; /* allowed, and too large for the buffer of no law */
  IS(fw_enqueue(queue, &long_one, 3000, &events), 1);
  fw_gauge gauges[8];
  int count = fw_inspect(queue, NULL, 0);
  IS(count > 1, 1);
  IS(fw_inspect(queue, gauges, 1), count);
  IS(strlen(gauges[0].name) > 0 && strlen(gauges[0].unit) > 0, 1);
  fw_free(queue);
  fw_free(NULL);
  IS(fw_last_error(NULL), FW_ERROR_NULL);
}

/* Drops without room in the list are kept, and come first in the next. */
static void kept_drops(void) {
  fw_queue *queue = built("tail-drop", "buffer = '2 packets'");
  fw_packet batch[4], out[8];
  for (uint64_t i = 0; i < 4; i++) batch[i] = packet, batch[i].cookie = i;
  fw_event list[1];
  fw_events events = {.list = list, .room = 1}, none = {.room = 5};
  IS(fw_enqueue_batch(queue, batch, 4, 0, &events), 4);
  IS(events.count, 1), IS(events.kept, 1);
  IS(list[0].packet.cookie, 2), IS(list[0].kind, FW_DROP), IS(list[0].cause, FW_CAUSE_OVERFLOW);
  IS(fw_enqueue(queue, &batch[0], 0, &none), FW_ERROR_EVENTS); /* no place beside one that is kept */
  IS(none.count, 0), IS(none.kept, 1);
  IS(fw_enqueue(queue, &batch[0], 0, &events), 1);
  IS(events.count, 1), IS(list[0].packet.cookie, 3), IS(events.kept, 1);
  IS(fw_drain(queue, out, 2), FW_ERROR_ROOM);
  IS(fw_drain(queue, out, 8), 3);
  IS(out[0].cookie, 0), IS(out[1].cookie, 0), IS(out[2].cookie, 1);
  fw_free(queue);
}

struct seen { fw_queue *queue; int drops, codes; };

static void on_event(void *user, const fw_event *event) {
  struct seen *seen = user;
  fw_packet out;
  seen->drops += event->kind == FW_DROP;
  seen->codes += fw_dequeue(seen->queue, 0, &out, NULL) == FW_ERROR_BUSY;
  fw_free(seen->queue); /* does nothing here */
}

static void callbacks(void) {
  struct seen seen = {built("tail-drop", "buffer = '2 packets'"), 0, 0};
  IS(fw_set_callback(seen.queue, on_event, &seen), FW_OK);
  fw_event list[4];
  fw_events events = {.list = list, .room = 4};
  for (int i = 0; i < 5; i++) IS(fw_enqueue(seen.queue, &packet, 0, &events), 1);
  IS(seen.drops, 3), IS(seen.codes, 3), IS(events.count, 0);
  IS(fw_set_callback(seen.queue, NULL, NULL), FW_OK);
  IS(fw_enqueue(seen.queue, &packet, 0, &events), 1);
  IS(seen.drops, 3), IS(events.count, 1);
  fw_free(seen.queue);
}

static void weights_and_marks(void) {
  fw_queue *queue = built("drr", "per = 'class'\nweights = { 1 = 2.0 }");
  double before = 0;
  IS(fw_set_weight(queue, 1, 4.0, &before), FW_OK);
  IS(before == 2.0, 1);
  fw_free(queue);
  queue = built("codel", "ecn = 'mark'");
  fw_event list[8];
  fw_events events = {.list = list, .room = 8};
  int marks = 0, marked = 0;
  for (uint64_t t = 0; t < 1000; t++) { /* one in and one out each ms, behind 15 others */
    fw_packet out;
    IS(fw_enqueue(queue, &packet, t * 1000000, &events), 1);
    if (t < 15) continue;
    IS(fw_dequeue(queue, t * 1000000, &out, &events), 1);
    for (uint32_t i = 0; i < events.count; i++) marks += events.list[i].kind == FW_MARK;
    marked += out.ecn == 3;
  }
  IS(marks > 0, 1), IS(marks, marked);
  fw_free(queue);
}

static void flows(void) {
  static const uint8_t key[16] = {1, 2, 3};
  uint8_t frame[42] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0xba, 0, 28, 0, 1, 0x40, 0, 64, 17,
                       0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x0f, 0xa0, 0, 53, 0, 8, 0, 0};
  fw_tuple tuple = {.version = 4, .protocol = 17, .source_port = 4000, .destination_port = 53,
                    .source = {10, 0, 0, 1}, .destination = {10, 0, 0, 2}};
  uint64_t flow = 0, other = 0;
  fw_packet found;
  IS(fw_flow_hash(key, &tuple, &flow), FW_OK);
  IS(fw_flow_hash_frame(key, frame, sizeof frame, &found), FW_OK);
  IS(found.flow == flow, 1), IS(found.len, 42), IS(found.ecn, 2), IS(found.dscp, 46), IS(found.cookie, 0);
  tuple.source_port++;
  IS(fw_flow_hash(key, &tuple, &other), FW_OK);
  IS(other != flow, 1);
  for (size_t len = 0; len <= sizeof frame; len++) {
    uint8_t *copy = malloc(len + 1); /* what is read beyond it is seen by the sanitizer */
    memcpy(copy, frame, len);
    IS(fw_flow_hash_frame(key, copy, len, &found), FW_OK);
    free(copy);
  }
  tuple.version = 5;
  IS(fw_flow_hash(key, &tuple, &flow), FW_ERROR_PACKET);
  IS(fw_flow_hash(NULL, &tuple, &flow), FW_ERROR_NULL);
  IS(fw_flow_hash(key, NULL, &flow), FW_ERROR_NULL);
  IS(fw_flow_hash(key, &tuple, NULL), FW_ERROR_NULL);
  IS(fw_flow_hash_frame(key, NULL, 1, &found), FW_ERROR_NULL);
}

/* A stack: the latest leaves first, and the fourth is refused. */
struct stack { fw_packet all[3]; uint32_t used; int freed, lies; };

static void push(void *state, const fw_packet *packet, int32_t is_full, uint64_t now, fw_signals *signals) {
  struct stack *stack = state;
  (void)now;
  if (is_full || stack->used == 3) fw_dropped(signals, packet, FW_CAUSE_FORCED);
  else stack->all[stack->used++] = *packet;
}
static int32_t give_back(void *state, fw_packet *packet) {
  struct stack *stack = state;
  if (stack->used == 0) return 0;
  *packet = stack->all[--stack->used];
  if (stack->lies) packet->len = 0;
  return 1;
}
static int32_t pop(void *state, fw_packet *packet, uint64_t now, fw_signals *signals) {
  (void)now, (void)signals;
  return give_back(state, packet);
}
static int32_t ready(void *state, uint64_t *at) {
  *at = 0;
  return ((struct stack *)state)->used > 0;
}
static void backlog(void *state, uint32_t *packets, uint64_t *bytes) {
  *packets = ((struct stack *)state)->used;
  *bytes = *packets * (uint64_t)1000;
}
static void end(void *state) { ((struct stack *)state)->freed++; }

static void own_disciplines(void) {
  struct stack stack = {.used = 0};
  fw_discipline table = {FW_ABI_VERSION, 0, &stack, push, pop, ready, backlog, give_back, end};
  fw_queue *queue;
  IS(fw_build_own(FW_ABI_VERSION, NULL, 3, &queue), FW_ERROR_NULL);
  IS(fw_build_own(FW_ABI_VERSION + 1, &table, 3, &queue), FW_ERROR_ABI);
  IS(fw_build_own(FW_ABI_VERSION, &table, 0, &queue), FW_ERROR_PARAMETER);
  table.dequeue = NULL;
  IS(fw_build_own(FW_ABI_VERSION, &table, 3, &queue), FW_ERROR_NULL);
  table.dequeue = pop;
  IS(stack.freed, 0);
  IS(fw_build_own(FW_ABI_VERSION, &table, 3, &queue), FW_OK);
  fw_packet in[4], out[4];
  for (uint64_t i = 0; i < 4; i++) in[i] = packet, in[i].cookie = i << 40;
  fw_event list[4];
  fw_events events = {.list = list, .room = 4};
  IS(fw_enqueue_batch(queue, in, 4, 5, &events), 4);
  IS(events.count, 1), IS(list[0].packet.cookie == in[3].cookie, 1), IS(list[0].cause, FW_CAUSE_FORCED);
  IS(fw_dequeue(queue, 6, out, &events), 1);
  IS(out[0].cookie == in[2].cookie, 1), IS(out[0].arrived, 5);
  IS(fw_drain(queue, out, 4), 2);
  stack.lies = 1;
  IS(fw_enqueue(queue, in, 7, &events), 1);
  IS(fw_dequeue(queue, 8, out, &events), FW_ERROR_FAULT); /* it gives back another packet */
  IS(fw_enqueue(queue, in, 9, &events), FW_ERROR_FAULT);
  IS(fw_last_error(queue), FW_ERROR_FAULT);
  fw_free(queue);
  IS(stack.freed, 1);
}

int main(void) {
  char name[32];
  IS(fw_abi_version(), FW_ABI_VERSION);
  IS(strlen(fw_version()) > 0, 1);
  for (int code = 1; code > -20; code--) IS(strlen(fw_text(code)) > 0, 1);
  IS(fw_law(0, name, sizeof name), 1);
  IS(strcmp(name, "tail-drop"), 0);
  IS(fw_law(0, name, 4), FW_ERROR_ROOM), IS(fw_law(0, NULL, 0), FW_ERROR_NULL), IS(fw_law(1000, name, 32), 0);
  refused_builds();
  refused_calls();
  kept_drops();
  callbacks();
  weights_and_marks();
  flows();
  own_disciplines();
  return failed;
}
