/* What quicly.c uses of quicly's t/simulator.c, for a compiler to check: not for a program. */
#include <netinet/in.h>
#include <stddef.h>

static double now;

struct net_packet {
  struct net_endpoint *src;
  size_t size;
};

struct net_node {
  void (*forward_)(struct net_node *, struct net_packet *);
  double (*next_run_at)(struct net_node *);
  void (*run)(struct net_node *);
};

struct net_endpoint {
  union {
    struct sockaddr_in sin;
  } addr;
};

void net_packet_destroy(struct net_packet *);
