/* What picoquic.c uses of picoquic_utils.h, for a compiler to check: not for a program. */
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct {
  size_t length;
  struct sockaddr_storage addr_from, addr_to;
  uint8_t ecn_mark;
} picoquictest_sim_packet_t;

typedef struct picoquictest_aqm picoquictest_aqm_t;
typedef struct {
  uint64_t queue_time; /* when it has sent all that it was given */
  picoquictest_aqm_t *aqm_state;
} picoquictest_sim_link_t;

struct picoquictest_aqm {
  void (*submit)(picoquictest_aqm_t *, picoquictest_sim_link_t *, picoquictest_sim_packet_t *, uint64_t now);
  void (*release)(picoquictest_aqm_t *, picoquictest_sim_link_t *);
  void (*reset)(picoquictest_aqm_t *, picoquictest_sim_link_t *, uint64_t now);
  int (*has_pending)(picoquictest_aqm_t *);
  void (*admit_pending)(picoquictest_aqm_t *, picoquictest_sim_link_t *, uint64_t now);
};

void picoquictest_sim_link_enqueue(picoquictest_sim_link_t *, picoquictest_sim_packet_t *, uint64_t now, int should_drop);
