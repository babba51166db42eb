/* Any law as the queue of a link in picoquic's simulator, in place of its dualq: compile it with `-include picoquic_utils.h`.
 * `make quic` compiles it against the declarations in seams/; it was not run with picoquic. The seam asks when the link
 * becomes free, so a law that holds packets back without need, such as a shaper, does not suit it. */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "fairwire.h"

int fairwire_aqm_configure(picoquictest_sim_link_t *link, const char *law, const char *parameters, const fw_site *site);

typedef struct {
  picoquictest_aqm_t super;
  picoquictest_sim_link_t *link;
  fw_queue *queue;
} fairwire_aqm;

/* A dropped packet is counted and freed by the link. */
static void on_event(void *user, const fw_event *event) {
  if (event->kind == FW_DROP)
    picoquictest_sim_link_enqueue(((fairwire_aqm *)user)->link, (void *)(uintptr_t)event->packet.cookie, 0, 1);
}

static void endpoint(const struct sockaddr_storage *at, uint8_t *version, uint8_t address[16], uint16_t *port) {
  const struct sockaddr_in6 *v6 = (const void *)at;
  const struct sockaddr_in *v4 = (const void *)at;
  *version = at->ss_family == AF_INET6 ? 6 : 4;
  *port = ntohs(*version == 6 ? v6->sin6_port : v4->sin_port);
  memcpy(address, *version == 6 ? (const void *)&v6->sin6_addr : &v4->sin_addr, *version == 6 ? 16 : 4);
}

/* Times are microseconds there. */
static void admit(picoquictest_aqm_t *self, picoquictest_sim_link_t *link, uint64_t now) {
  fw_packet out;
  while (link->queue_time <= now && fw_dequeue(((fairwire_aqm *)self)->queue, now * 1000, &out, NULL) == 1) {
    picoquictest_sim_packet_t *packet = (void *)(uintptr_t)out.cookie;
    packet->ecn_mark = out.ecn;
    picoquictest_sim_link_enqueue(link, packet, now, 0);
  }
}

static void submit(picoquictest_aqm_t *self, picoquictest_sim_link_t *link, picoquictest_sim_packet_t *packet,
                   uint64_t now) {
  static const uint8_t key[16]; /* no sender is hostile here, and runs repeat */
  fw_packet in = {.cookie = (uintptr_t)packet, .len = packet->length, .ecn = packet->ecn_mark & 3};
  fw_tuple tuple = {.protocol = 17};
  endpoint(&packet->addr_from, &tuple.version, tuple.source, &tuple.source_port);
  endpoint(&packet->addr_to, &tuple.version, tuple.destination, &tuple.destination_port);
  fw_flow_hash(key, &tuple, &in.flow);
  if (fw_enqueue(((fairwire_aqm *)self)->queue, &in, now * 1000, NULL) < 0)
    picoquictest_sim_link_enqueue(link, packet, now, 1);
  admit(self, link, now);
}

static int has_pending(picoquictest_aqm_t *self) {
  fw_backlog_size waiting = {0, 0};
  fw_backlog(((fairwire_aqm *)self)->queue, &waiting);
  return waiting.packets > 0;
}

static void reset(picoquictest_aqm_t *self, picoquictest_sim_link_t *link, uint64_t now) {
  (void)self, (void)link, (void)now;
}

static void release(picoquictest_aqm_t *self, picoquictest_sim_link_t *link) {
  fairwire_aqm *aqm = (fairwire_aqm *)self;
  for (fw_packet out; fw_dequeue(aqm->queue, INT64_MAX, &out, NULL) == 1;) free((void *)(uintptr_t)out.cookie);
  fw_free(aqm->queue);
  free(aqm);
  link->aqm_state = NULL;
}

/* Returns 0, or the code of fw_build. */
int fairwire_aqm_configure(picoquictest_sim_link_t *link, const char *law, const char *parameters, const fw_site *site) {
  fairwire_aqm *aqm = calloc(1, sizeof *aqm);
  if (aqm == NULL) return FW_ERROR_FAULT;
  int code = fw_build(FW_ABI_VERSION, law, parameters, site, &aqm->queue, NULL, 0);
  if (code != FW_OK) return free(aqm), code;
  aqm->super.submit = submit, aqm->super.admit_pending = admit, aqm->super.has_pending = has_pending;
  aqm->super.reset = reset, aqm->super.release = release, aqm->link = link;
  fw_set_callback(aqm->queue, on_event, aqm);
  link->aqm_state = &aqm->super;
  return FW_OK;
}
