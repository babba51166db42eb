/* A relay for UDP that shares its rate fairly between senders, by FABA: relay PORT TO_PORT MBIT_PER_S
 * One loop: what arrives is enqueued, and whenever the link is free a packet is dequeued and sent. */
#define _DEFAULT_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "fairwire.h"

typedef struct { size_t len; unsigned char bytes[2048]; } datagram;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_event(void *user, const fw_event *event) {
  (void)user; /* a dropped packet is the caller's again */
  if (event->kind == FW_DROP) free((void *)(uintptr_t)event->packet.cookie);
}

int main(int argc, char **argv) {
  uint64_t rate = argc == 4 ? strtoul(argv[3], NULL, 10) : 0, ready;
  if (rate == 0) return fprintf(stderr, "usage: relay PORT TO_PORT MBIT_PER_S\n"), 2;
  struct sockaddr_in from, to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, at = to;
  at.sin_port = htons((uint16_t)atoi(argv[1])), to.sin_port = htons((uint16_t)atoi(argv[2]));
  uint8_t key[16];
  int udp = socket(AF_INET, SOCK_DGRAM, 0);
  if (udp < 0 || bind(udp, (void *)&at, sizeof at) || getentropy(key, sizeof key)) return perror("relay"), 1;
  fw_queue *queue;
  fw_site site = {.rate_bps = rate * 1000000, .buffer = "100 ms", .seed = 1, .packet_bytes = 1514};
  char why[1024];
  if (fw_build(FW_ABI_VERSION, "faba", "", &site, &queue, why, sizeof why) != FW_OK)
    return fprintf(stderr, "relay: %s\n", why), 1;
  fw_set_callback(queue, on_event, NULL);
  for (uint64_t t = now(), free_at = t;; t = now()) { /* free_at: when the last packet has left */
    struct pollfd input = {.fd = udp, .events = POLLIN};
    if (fw_ready_at(queue, &ready) == 1 && ready < free_at) ready = free_at;
    poll(&input, 1, ready == UINT64_MAX ? -1 : ready > t ? (int)((ready - t + 999999) / 1000000) : 0);
    datagram *d;
    if ((input.revents & POLLIN) && (d = malloc(sizeof *d)) != NULL) {
      ssize_t len = recvfrom(udp, d->bytes, sizeof d->bytes, 0, (void *)&from, &(socklen_t){sizeof from});
      fw_tuple tuple = {.version = 4, .protocol = 17, .source_port = ntohs(from.sin_port)};
      memcpy(tuple.source, &from.sin_addr, 4);
      fw_packet packet = {.cookie = (uintptr_t)d, .len = (d->len = len > 0 ? (size_t)len : 0) + 42};
      fw_flow_hash(key, &tuple, &packet.flow);
      if (len <= 0 || fw_enqueue(queue, &packet, now(), NULL) < 0) free(d);
    }
    for (fw_packet packet; (t = now()) >= free_at && fw_dequeue(queue, t, &packet, NULL) == 1;) {
      d = (datagram *)(uintptr_t)packet.cookie;
      sendto(udp, d->bytes, d->len, 0, (void *)&to, sizeof to);
      free(d);
      free_at = (free_at + 1000000 > t ? free_at : t) + packet.len * 8000 / rate; /* ns at Mbit/s */
    }
  }
}
