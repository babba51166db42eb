/* Any law as a node of quicly's simulator, in place of its net_bottleneck: include it in t/simulator.c, behind the struct
 * net_endpoint and net_packet_destroy, and name its node in the lists there. `make quic` compiles it against the
 * declarations in seams/; it was not run with quicly. */
#include <math.h>
#include "fairwire.h"

struct net_fairwire {
  struct net_node super;
  struct net_node *next_node;
  fw_queue *queue;
  double next_emit_at, bytes_per_sec;
};

int net_fairwire_init(struct net_fairwire *self, const char *law, const char *parameters, const fw_site *site);

static void net_fairwire_event(void *user, const fw_event *event) {
  (void)user;
  if (event->kind == FW_DROP) net_packet_destroy((void *)(uintptr_t)event->packet.cookie);
}

/* Times are seconds there. */
static void net_fairwire_forward(struct net_node *node, struct net_packet *packet) {
  struct net_fairwire *self = (struct net_fairwire *)node;
  fw_packet in = {.cookie = (uintptr_t)packet, .flow = packet->src->addr.sin.sin_addr.s_addr, .len = packet->size};
  if (fw_enqueue(self->queue, &in, (uint64_t)(now * 1e9), NULL) < 0) net_packet_destroy(packet);
}

static double net_fairwire_next_run_at(struct net_node *node) {
  struct net_fairwire *self = (struct net_fairwire *)node;
  uint64_t at;
  if (fw_ready_at(self->queue, &at) != 1) return INFINITY;
  /* a nanosecond later, since `now` is rounded down */
  return fmax((double)(at + 1) / 1e9, fmax(self->next_emit_at, now));
}

static void net_fairwire_run(struct net_node *node) {
  struct net_fairwire *self = (struct net_fairwire *)node;
  fw_packet out;
  if (net_fairwire_next_run_at(node) > now || fw_dequeue(self->queue, (uint64_t)(now * 1e9), &out, NULL) != 1) return;
  self->next_emit_at = now + (double)out.len / self->bytes_per_sec;
  self->next_node->forward_(self->next_node, (void *)(uintptr_t)out.cookie);
}

/* Returns 0, or the code of fw_build. Set next_node afterwards, as for the other nodes. */
int net_fairwire_init(struct net_fairwire *self, const char *law, const char *parameters, const fw_site *site) {
  *self = (struct net_fairwire){.super = {net_fairwire_forward, net_fairwire_next_run_at, net_fairwire_run},
                                .bytes_per_sec = (double)site->rate_bps / 8};
  int code = fw_build(FW_ABI_VERSION, law, parameters, site, &self->queue, NULL, 0);
  if (code == FW_OK) fw_set_callback(self->queue, net_fairwire_event, NULL);
  return code;
}
