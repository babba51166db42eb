/* A relay for UDP that shares its rate fairly between senders, by FABA.
 *
 *     relay PORT TO_PORT MBIT_PER_S      both on 127.0.0.1
 *
 * One loop: what arrives is enqueued, and whenever the link is free a packet is dequeued and sent. */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "fairwire.h"

typedef struct { size_t len; unsigned char bytes[2048]; } datagram;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What was dropped is the caller's again. */
static void release(const fw_events *events) {
  for (uint32_t i = 0; i < events->count; i++)
    if (events->list[i].kind == FW_DROP) free((void *)(uintptr_t)events->list[i].packet.cookie);
}

int main(int argc, char **argv) {
  unsigned long rate = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
  if (rate == 0) return fprintf(stderr, "usage: relay PORT TO_PORT MBIT_PER_S\n"), 2;
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1]))}, to = at, from;
  at.sin_addr.s_addr = to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons((uint16_t)atoi(argv[2]));
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  if (udp < 0 || bind(udp, (struct sockaddr *)&at, sizeof at) != 0) return perror("relay"), 1;

  fw_queue *queue;
  fw_site site = {.rate_bps = rate * 1000000, .buffer = "100 ms", .seed = 1, .packet_bytes = 1514};
  char why[512];
  if (fw_build(FW_ABI_VERSION, "faba", "", &site, &queue, why, sizeof why) != FW_OK)
    return fprintf(stderr, "relay: %s\n", why), 1;

  fw_event dropped[64];
  fw_events events = {.list = dropped, .room = 64};
  uint8_t key[16];
  if (getentropy(key, sizeof key) != 0) return perror("relay"), 1;
  uint64_t free_at = now(); /* when the last packet will have left */
  for (;;) {
    fw_backlog_size waiting;
    fw_backlog(queue, &waiting);
    uint64_t t = now(), wait_ms = free_at > t ? (free_at - t) / 1000000 : 0;
    struct pollfd input = {.fd = udp, .events = POLLIN};
    poll(&input, 1, waiting.packets != 0 ? (int)wait_ms : -1);

    datagram *d;
    socklen_t size = sizeof from;
    if ((input.revents & POLLIN) && (d = malloc(sizeof *d)) != NULL) {
      ssize_t len = recvfrom(udp, d->bytes, sizeof d->bytes, 0, (struct sockaddr *)&from, &size);
      fw_tuple tuple = {.version = 4, .protocol = 17, .source_port = ntohs(from.sin_port)};
      memcpy(tuple.source, &from.sin_addr, 4);
      fw_packet packet = {.cookie = (uintptr_t)d, .len = (d->len = len > 0 ? (size_t)len : 0) + 42};
      fw_flow_hash(key, &tuple, &packet.flow);
      if (len <= 0 || fw_enqueue(queue, &packet, now(), &events) < 0) free(d);
      release(&events);
    }
    fw_packet packet;
    while ((t = now()) >= free_at && fw_dequeue(queue, t, &packet, &events) == 1) {
      d = (datagram *)(uintptr_t)packet.cookie;
      sendto(udp, d->bytes, d->len, 0, (struct sockaddr *)&to, sizeof to);
      free(d);
      release(&events);
      free_at = (free_at + 1000000 > t ? free_at : t) + packet.len * 8000 / rate; /* ns at Mbit/s */
    }
    release(&events);
  }
}
