/* Random calls through the border: `random CALLS SEED`. Every cookie that enters leaves once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairwire.h"

#define COOKIES 4096
static uint8_t inside[COOKIES];
static uint32_t outstanding;
static uint64_t state;

static uint32_t below(uint32_t bound) { /* xorshift64* */
  state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
  return (uint32_t)(((state * 0x2545f4914f6cdd1du) >> 32) * bound >> 32);
}

static void fail(const char *law, const char *what) {
  fprintf(stderr, "random: %s: %s\n", law, what);
  exit(1);
}

static const char *law;

static void leaves(uint64_t cookie) {
  if (cookie >= COOKIES || !inside[cookie]) fail(law, "a packet leaves that is not inside");
  inside[cookie] = 0;
  outstanding--;
}

static void taken(const fw_events *events) {
  for (uint32_t i = 0; i < events->count; i++)
    if (events->list[i].kind == FW_DROP) leaves(events->list[i].packet.cookie);
}

static void on_event(void *user, const fw_event *event) {
  (void)user;
  if (event->kind == FW_DROP) leaves(event->packet.cookie);
}

/* A packet with a cookie that is not inside. */
static fw_packet fresh(uint32_t size) {
  uint32_t cookie = below(COOKIES);
  while (inside[cookie]) cookie = (cookie + 1) % COOKIES;
  fw_packet packet = {.cookie = cookie, .flow = below(40), .len = 1 + below(size), .class_id = below(4),
                      .ecn = (uint8_t)below(4), .dscp = (uint8_t)below(64), .color = (uint8_t)below(3)};
  inside[cookie] = 1;
  outstanding++;
  return packet;
}

static void enqueue(fw_queue *queue, uint32_t count, uint64_t now, fw_events *events) {
  fw_packet batch[FW_BATCH] = {{0}};
  if (count > COOKIES - outstanding) count = COOKIES - outstanding;
  for (uint32_t i = 0; i < count; i++) batch[i] = fresh(below(64) ? 1514 : 200000);
  int done = fw_enqueue_batch(queue, batch, count, now, events);
  if (done == FW_ERROR_EVENTS) done = 0;
  if (done < 0) fail(law, fw_text(done));
  for (uint32_t i = (uint32_t)done; i < count; i++) leaves(batch[i].cookie); /* it stayed here */
  taken(events);
}

static uint64_t episode(fw_queue *queue, uint64_t calls) {
  fw_event list[8];
  fw_packet out[COOKIES];
  fw_events events = {.list = list, .room = 8};
  uint64_t now = below(1000), made = 0;
  int has_callback = 0;
  while (made++ < calls) {
    now += below(8) ? below(2000000) : below(2) ? 0 : below(4000000000u);
    events.room = below(9);
    events.count = 0;
    switch (below(20)) {
      default: enqueue(queue, 1, now, &events); break;
      case 0: enqueue(queue, below(FW_BATCH + 1), now, &events); break;
      case 1: case 2: case 3: case 4: case 5: case 6: {
        int got = fw_dequeue(queue, now, out, &events);
        if (got < 0) fail(law, fw_text(got));
        if (got == 1) leaves(out[0].cookie);
        taken(&events);
        break;
      }
      case 7: {
        int got = fw_dequeue_batch(queue, now, out, below(FW_BATCH + 1), &events);
        for (int i = 0; i < got; i++) leaves(out[i].cookie);
        taken(&events);
        break;
      }
      case 8: {
        fw_backlog_size waiting;
        uint64_t at;
        fw_backlog(queue, &waiting);
        if (waiting.packets > outstanding) fail(law, "more waits than entered");
        if (fw_ready_at(queue, &at) != (waiting.packets > 0))
          fail(law, "it is ready where nothing waits, or not where something does");
        break;
      }
      case 9: {
        fw_gauge gauges[4];
        if (below(16) == 0) fw_inspect(queue, gauges, below(5));
        break;
      }
      case 10:
        if (below(64) == 0) {
          int got = fw_drain(queue, out, COOKIES);
          for (int i = 0; i < got; i++) leaves(out[i].cookie);
          if (outstanding != 0) fail(law, "something is inside after a drain");
        }
        break;
      case 11: { /* what is refused changes nothing */
        fw_packet wrong = {.len = below(2) ? 0 : (uint64_t)1 << (32 + below(32))};
        if (fw_enqueue(queue, &wrong, now, NULL) != FW_ERROR_PACKET) fail(law, "a wrong packet is taken");
        if (fw_enqueue_batch(queue, out, FW_BATCH + 1 + below(9), now, NULL) != FW_ERROR_BATCH)
          fail(law, "a batch is taken");
        uint64_t before = now - 1 - below((uint32_t)(now > 1000 ? 1000 : now));
        if (now > 0 && fw_dequeue(queue, before, out, NULL) != FW_ERROR_TIME) fail(law, "a time before is taken");
        if (fw_dequeue(queue, now, NULL, NULL) != FW_ERROR_NULL) fail(law, "null is taken");
        made += 3;
        break;
      }
      case 12: fw_set_weight(queue, below(5), below(100) / 10.0, NULL); break;
      case 13:
        if (below(32) == 0) fw_set_callback(queue, (has_callback = !has_callback) ? on_event : NULL, NULL);
        break;
    }
  }
  int got = fw_drain(queue, out, COOKIES);
  for (int i = 0; i < got; i++) leaves(out[i].cookie);
  if (outstanding != 0) fail(law, "something is inside at the end");
  fw_free(queue);
  return made - 1;
}

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: random CALLS SEED\n"), 2;
  uint64_t calls = strtoull(argv[1], NULL, 10), made = 0, queues = 0;
  state = strtoull(argv[2], NULL, 10) * 2 + 1;
  static const char *const buffers[] = {"1 packets", "50 packets", "64 KiB", "200 ms", "700 packets"};
  static const char *const both[] = {"drr+faba", "wf2q++red", "sfq+codel", "scfq+lqd", "fbfq+choke"};
  uint32_t laws = 0;
  char name[32], why[512];
  while (fw_law(laws, name, sizeof name) == 1) laws++;
  while (made < calls) {
    uint32_t which = below(laws + 5);
    fw_law(which, name, sizeof name);
    law = which < laws ? name : both[which - laws];
    fw_site site = {.rate_bps = 1000 + (uint64_t)below(4000000000u), .buffer = buffers[below(5)],
                    .seed = below(99), .packet_bytes = 100 + below(1900)};
    fw_queue *queue;
    int code = fw_build(FW_ABI_VERSION, law, below(2) ? "ecn = 'mark'" : "", &site, &queue, why, sizeof why);
    if (code == FW_OK) made += episode(queue, 20000), queues++;
    else if (code != FW_ERROR_PARAMETER && code != FW_ERROR_TEXT) fail(law, why);
    /* Some laws have no `ecn`, or need more room. */
    made++;
  }
  printf("%llu calls, %llu queues: every packet left once\n", (unsigned long long)made,
         (unsigned long long)queues);
  return queues == 0;
}
