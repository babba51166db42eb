/* Nanoseconds for a packet in and out, from C: `cost LAW`, one by one and in batches of 32. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fairwire.h"

enum { ROUNDS = 40000, BATCH = 32 };

static double ns(void) { /* processor time: other work on the machine does not count */
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static fw_queue *queue;
static uint64_t now, cookie;

static void one_by_one(fw_packet *packets) {
  fw_packet out;
  for (int i = 0; i < BATCH; i++) {
    packets[i].cookie = cookie++;
    if (fw_enqueue(queue, &packets[i], now += 500, NULL) != 1) abort();
    if (fw_dequeue(queue, now += 500, &out, NULL) != 1) abort();
  }
}

static void in_batches(fw_packet *packets) {
  fw_packet out[BATCH];
  for (int i = 0; i < BATCH; i++) packets[i].cookie = cookie++;
  if (fw_enqueue_batch(queue, packets, BATCH, now += 16000, NULL) != BATCH) abort();
  if (fw_dequeue_batch(queue, now += 16000, out, BATCH, NULL) != BATCH) abort();
}

static double timed(void (*round)(fw_packet *), fw_packet *packets) {
  double start = ns();
  for (int i = 0; i < ROUNDS; i++) round(packets);
  return (ns() - start) / ((double)ROUNDS * BATCH);
}

int main(int argc, char **argv) {
  fw_site site = {.rate_bps = 8000000000, .buffer = "200 packets", .seed = 1, .packet_bytes = 1514};
  char why[256];
  if (argc != 2 || fw_build(FW_ABI_VERSION, argv[1], "", &site, &queue, why, sizeof why) != FW_OK) return 2;
  fw_packet packets[BATCH] = {{0}}, waiting = {.len = 1000};
  for (int i = 0; i < BATCH; i++) packets[i].flow = (uint64_t)i % 8, packets[i].len = 1000;
  for (uint64_t i = 0; i < 40; i++) waiting.flow = i % 8, fw_enqueue(queue, &waiting, 0, NULL);
  timed(one_by_one, packets), timed(in_batches, packets);
  printf("%.1f %.1f\n", timed(one_by_one, packets), timed(in_batches, packets));
  fw_free(queue);
  return 0;
}
