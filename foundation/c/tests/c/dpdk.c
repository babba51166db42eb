/* Packets per second through a port of DPDK: rte_sched beside laws of libfairwire in its place.
 *
 *     dpdk SECONDS FLOWS      without huge pages and cards: frames come from net_null, and leave by it
 *
 * One core. A burst of 32 frames is received, enqueued, and as many are dequeued and sent, while 640 wait.
 * Each flow has a pipe of rte_sched, of 1024. The rate is more than a core can do: it always has work. */
#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fairwire.h"

enum { BURST = 32, PIPES = 1024, WAITING = 20 * BURST, RUNS = 5 };
#define RATE 12500000000u /* bytes per second: 100 Gbit/s */

static struct rte_sched_port *sched;
static fw_queue *queue;
static uint32_t flows, flow;
static uint64_t now_ns;

static void fail(const char *what) {
  fprintf(stderr, "dpdk: %s\n", what);
  exit(1);
}

/* Without a queue: the cost of net_null and the loop. */
static struct rte_mbuf *held[BURST];

static void nothing_enqueue(struct rte_mbuf **frames) { memcpy(held, frames, sizeof held); }

static unsigned nothing_dequeue(struct rte_mbuf **frames) {
  memcpy(frames, held, sizeof held);
  return BURST;
}

static uint32_t next_flow(void) { return flow = flow + 1 == flows ? 0 : flow + 1; }

static void sched_enqueue(struct rte_mbuf **frames) {
  for (unsigned i = 0; i < BURST; i++)
    rte_sched_port_pkt_write(sched, frames[i], 0, next_flow(), RTE_SCHED_TRAFFIC_CLASS_BE, 0, RTE_COLOR_GREEN);
  rte_sched_port_enqueue(sched, frames, BURST); /* it frees those that do not fit */
}

static unsigned sched_dequeue(struct rte_mbuf **frames) {
  int count = rte_sched_port_dequeue(sched, frames, BURST);
  return count < 0 ? 0 : (unsigned)count;
}

static void on_event(void *user, const fw_event *event) {
  (void)user;
  if (event->kind == FW_DROP) rte_pktmbuf_free((struct rte_mbuf *)(uintptr_t)event->packet.cookie);
}

static void law_enqueue(struct rte_mbuf **frames) {
  fw_packet packets[BURST] = {{0}};
  for (unsigned i = 0; i < BURST; i++) {
    packets[i].cookie = (uintptr_t)frames[i], packets[i].len = frames[i]->pkt_len;
    packets[i].flow = next_flow(), packets[i].class_id = 1 + flow % 4;
  }
  if (fw_enqueue_batch(queue, packets, BURST, now_ns += 100, NULL) != BURST) fail("a packet was not taken");
}

static unsigned law_dequeue(struct rte_mbuf **frames) {
  fw_packet packets[BURST];
  int count = fw_dequeue_batch(queue, now_ns += 100, packets, BURST, NULL);
  for (int i = 0; i < count; i++) frames[i] = (struct rte_mbuf *)(uintptr_t)packets[i].cookie;
  return count < 0 ? 0 : (unsigned)count;
}

static void build_sched(void) {
  struct rte_sched_pipe_params pipe = {
      .tb_rate = RATE, .tb_size = 1000000, .tc_period = 10, .tc_ov_weight = 1};
  struct rte_sched_subport_profile_params profile = {.tb_rate = RATE, .tb_size = 1000000, .tc_period = 10};
  struct rte_sched_subport_params subport = {.n_pipes_per_subport_enabled = PIPES,
      .pipe_profiles = &pipe, .n_pipe_profiles = 1, .n_max_pipe_profiles = 1};
  for (int i = 0; i < RTE_SCHED_TRAFFIC_CLASSES_PER_PIPE; i++)
    pipe.tc_rate[i] = profile.tc_rate[i] = RATE, subport.qsize[i] = 64;
  for (int i = 0; i < RTE_SCHED_BE_QUEUES_PER_PIPE; i++) pipe.wrr_weights[i] = 1;
  struct rte_sched_port_params port = {.name = "port", .rate = RATE, .mtu = 1522, .frame_overhead = 24,
      .n_subports_per_port = 1, .subport_profiles = &profile, .n_subport_profiles = 1,
      .n_max_subport_profiles = 1, .n_pipes_per_subport = PIPES};
  sched = rte_sched_port_config(&port);
  if (sched == NULL || rte_sched_subport_config(sched, 0, &subport, 0) != 0) fail("rte_sched is not built");
  for (uint32_t i = 0; i < PIPES; i++)
    if (rte_sched_pipe_config(sched, 0, i, 0) != 0) fail("a pipe cannot be configured");
}

static void build_law(const char *name) {
  fw_site site = {.rate_bps = 8ull * RATE, .buffer = "4096 packets", .seed = 1, .packet_bytes = 64};
  char why[256];
  const char *classes = "class = [{ id = 1 }, { id = 2 }, { id = 3 }, { id = 4, weight = 2.0 }]";
  const char *text = strcmp(name, "classful") == 0 ? classes : "";
  if (queue != NULL) fw_free(queue);
  if (fw_build(FW_ABI_VERSION, name, text, &site, &queue, why, sizeof why) != FW_OK) fail(why);
  fw_set_callback(queue, on_event, NULL);
}

typedef struct {
  const char *name;
  void (*enqueue)(struct rte_mbuf **);
  unsigned (*dequeue)(struct rte_mbuf **);
  double best, lost; /* millions of packets per second, and the part that did not leave then */
} port;

static double now(void) { /* processor time: other work on the machine does not count */
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void receive(struct rte_mbuf **frames) {
  if (rte_eth_rx_burst(0, 0, frames, BURST) != BURST) fail("net_null has no frames left: a queue keeps them");
}

static void measure(port *port, double seconds) {
  struct rte_mbuf *frames[BURST];
  int keeps = port->enqueue != nothing_enqueue;
  for (int i = 0; keeps && i < WAITING / BURST; i++) receive(frames), port->enqueue(frames);
  double start = now(), passed = 0;
  uint64_t in = 0, out = 0;
  while ((passed = now() - start) < seconds)
    for (int round = 0; round < 64; round++, in += BURST) {
      receive(frames), port->enqueue(frames);
      out += rte_eth_tx_burst(0, 0, frames, port->dequeue(frames));
    }
  double rate = (double)out / passed / 1e6;
  if (rate > port->best) port->best = rate, port->lost = 1 - (double)out / in;
  for (int idle = 0; keeps && idle < 100000; idle++)
    for (unsigned count; (count = port->dequeue(frames)) > 0; idle = 0) rte_pktmbuf_free_bulk(frames, count);
}

int main(int argc, char **argv) {
  char *eal[] = {argv[0], "--no-huge", "--no-pci", "--no-telemetry", "--log-level=4",
                 "--vdev=net_null0,size=64", "-l0", "-m512", NULL};
  double seconds = argc == 3 ? atof(argv[1]) : 0;
  flows = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
  if (seconds <= 0 || flows < 1 || flows > PIPES)
    return fprintf(stderr, "usage: dpdk SECONDS FLOWS; FLOWS is 1 to %d\n", PIPES), 2;
  if (rte_eal_init(sizeof eal / sizeof *eal - 1, eal) < 0) fail("DPDK does not start");
  struct rte_mempool *pool = rte_pktmbuf_pool_create("frames", 32767, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
  struct rte_eth_conf conf = {0};
  if (pool == NULL || rte_eth_dev_configure(0, 1, 1, &conf) != 0 ||
      rte_eth_rx_queue_setup(0, 0, 256, 0, NULL, pool) != 0 ||
      rte_eth_tx_queue_setup(0, 0, 256, 0, NULL) != 0 || rte_eth_dev_start(0) != 0)
    fail("net_null does not start");
  build_sched();
  port ports[] = {{"no queue", nothing_enqueue, nothing_dequeue, 0, 0},
                  {"rte_sched", sched_enqueue, sched_dequeue, 0, 0},
                  {"classful", law_enqueue, law_dequeue, 0, 0}, {"faba", law_enqueue, law_dequeue, 0, 0},
                  {"drr", law_enqueue, law_dequeue, 0, 0}, {"fq-codel", law_enqueue, law_dequeue, 0, 0},
                  {"tail-drop", law_enqueue, law_dequeue, 0, 0}};
  for (int run = 0; run < RUNS; run++)
    for (port *port = ports; port < ports + sizeof ports / sizeof *ports; port++) {
      if (port->enqueue == law_enqueue) build_law(port->name);
      measure(port, seconds);
    }
  printf("%u flows        million packets/s   lost\n", flows);
  for (port *port = ports; port < ports + sizeof ports / sizeof *ports; port++)
    printf("%-16s %14.2f %8.1f %%\n", port->name, port->best, 100 * port->lost);
  return 0;
}
