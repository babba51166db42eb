/* Four QUIC connections of ngtcp2 against a flow of constant rate, over one bottleneck of libfairwire:
 *
 *     quic LAW      delivered of each from 10 s to 40 s, in Mbit/s: the four, and the flow of constant rate
 *
 * All is in one process and in virtual time. The bottleneck has 20 Mbit/s and 100 packets, a round trip takes
 * 40 ms without queue, and the constant rate is 15 Mbit/s. Connections send by CUBIC, as much as they can.
 * Headers count. */
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <ngtcp2/ngtcp2.h>
#include <ngtcp2/ngtcp2_crypto.h>
#include <ngtcp2/ngtcp2_crypto_gnutls.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fairwire.h"

enum { PAIRS = 4, ENDS = 2 * PAIRS, SIZE = 1200, OVERHEAD = 28, CBR = ENDS };
#define MS 1000000ull
static const uint64_t RATE = 20000000, CBR_GAP = (SIZE + OVERHEAD) * 8000ull / 15, DELAY = 20 * MS;
static const uint64_t START = 1000 * MS, WARM = 11000 * MS, END = 41000 * MS;

typedef struct packet {
  struct packet *next;
  uint64_t at;
  size_t len;
  uint8_t ecn;
  int to;
  uint8_t bytes[SIZE];
} packet;

/* Packets on their way: each takes the same time, so that they keep their order. */
typedef struct { packet *first, **last; } wire;

typedef struct {
  ngtcp2_conn *conn;
  ngtcp2_crypto_conn_ref ref;
  gnutls_session_t session;
  int64_t stream;
} end;

static end ends[ENDS];
static wire there = {NULL, &there.first}, back = {NULL, &back.first};
static fw_queue *queue;
static uint64_t now, free_at, delivered[PAIRS + 1];
static gnutls_certificate_credentials_t client_credentials, server_credentials;
static struct sockaddr_in address = {.sin_family = AF_INET};
static ngtcp2_path path = {.local = {(struct sockaddr *)&address, sizeof address},
                           .remote = {(struct sockaddr *)&address, sizeof address}};

static void fail(const char *what, const char *why) {
  fprintf(stderr, "quic: %s: %s\n", what, why);
  exit(1);
}

static void tls(int code) {
  if (code < 0) fail("gnutls", gnutls_strerror(code));
}

static void quic(int64_t code) {
  if (code < 0) fail("ngtcp2", ngtcp2_strerror((int)code));
}

static void put(wire *wire, packet *packet) {
  packet->next = NULL;
  *wire->last = packet, wire->last = &packet->next;
}

static packet *take(wire *wire) {
  packet *first = wire->first;
  if ((wire->first = first->next) == NULL) wire->last = &wire->first;
  return first;
}

static void on_event(void *user, const fw_event *event) {
  (void)user;
  if (event->kind == FW_DROP) free((void *)(uintptr_t)event->packet.cookie);
}

/* From a client to the bottleneck. */
static void enqueue(packet *packet, uint64_t flow) {
  fw_packet outer = {.cookie = (uintptr_t)packet, .flow = flow, .len = packet->len + OVERHEAD};
  outer.ecn = packet->ecn;
  if (fw_enqueue(queue, &outer, now, NULL) != 1) fail("fw_enqueue", "a packet was not taken");
}

static void transmit(void) {
  fw_packet outer;
  while (now >= free_at && fw_dequeue(queue, now, &outer, NULL) == 1) {
    packet *packet = (struct packet *)(uintptr_t)outer.cookie;
    free_at = now + outer.len * 8000000000ull / RATE;
    packet->ecn = outer.ecn, packet->at = free_at + DELAY;
    put(&there, packet);
  }
}

static ngtcp2_conn *conn_of(ngtcp2_crypto_conn_ref *ref) { return ((end *)ref->user_data)->conn; }

static void random_bytes(uint8_t *to, size_t len, const ngtcp2_rand_ctx *context) {
  (void)context;
  tls(gnutls_rnd(GNUTLS_RND_NONCE, to, len));
}

static int new_id(ngtcp2_conn *conn, ngtcp2_cid *id, uint8_t *token, size_t len, void *user) {
  (void)conn, (void)user;
  random_bytes(id->data, id->datalen = len, NULL);
  random_bytes(token, NGTCP2_STATELESS_RESET_TOKENLEN, NULL);
  return 0;
}

static int on_data(ngtcp2_conn *conn, uint32_t flags, int64_t stream, uint64_t offset, const uint8_t *data,
                   size_t len, void *user, void *stream_user) {
  (void)flags, (void)offset, (void)data, (void)user, (void)stream_user;
  ngtcp2_conn_extend_max_stream_offset(conn, stream, len), ngtcp2_conn_extend_max_offset(conn, len);
  return 0;
}

static void begin(int number, const ngtcp2_cid ids[3]) { /* the client's, the server's, and the first for it */
  int is_client = number < PAIRS;
  end *end = &ends[number];
  ngtcp2_callbacks callbacks = {
      .client_initial = is_client ? ngtcp2_crypto_client_initial_cb : NULL,
      .recv_client_initial = is_client ? NULL : ngtcp2_crypto_recv_client_initial_cb,
      .recv_crypto_data = ngtcp2_crypto_recv_crypto_data_cb, .encrypt = ngtcp2_crypto_encrypt_cb,
      .decrypt = ngtcp2_crypto_decrypt_cb, .hp_mask = ngtcp2_crypto_hp_mask_cb, .recv_stream_data = on_data,
      .recv_retry = ngtcp2_crypto_recv_retry_cb, .rand = random_bytes, .get_new_connection_id = new_id,
      .update_key = ngtcp2_crypto_update_key_cb, .delete_crypto_aead_ctx = ngtcp2_crypto_delete_crypto_aead_ctx_cb,
      .delete_crypto_cipher_ctx = ngtcp2_crypto_delete_crypto_cipher_ctx_cb,
      .get_path_challenge_data = ngtcp2_crypto_get_path_challenge_data_cb,
      .version_negotiation = ngtcp2_crypto_version_negotiation_cb};
  ngtcp2_settings settings;
  ngtcp2_settings_default(&settings);
  settings.cc_algo = NGTCP2_CC_ALGO_CUBIC, settings.initial_ts = now, settings.no_pmtud = 1;
  settings.max_tx_udp_payload_size = SIZE;
  ngtcp2_transport_params params;
  ngtcp2_transport_params_default(&params);
  params.initial_max_data = params.initial_max_stream_data_uni = 16 << 20, params.initial_max_streams_uni = 1;
  tls(gnutls_init(&end->session, is_client ? GNUTLS_CLIENT : GNUTLS_SERVER));
  tls(gnutls_priority_set_direct(end->session, "NORMAL:-VERS-ALL:+VERS-TLS1.3:%DISABLE_TLS13_COMPAT_MODE", NULL));
  void *credentials = is_client ? client_credentials : server_credentials;
  tls(gnutls_credentials_set(end->session, GNUTLS_CRD_CERTIFICATE, credentials));
  gnutls_datum_t protocol = {(unsigned char *)"fairwire", 8};
  tls(gnutls_alpn_set_protocols(end->session, &protocol, 1, GNUTLS_ALPN_MANDATORY));
  if (is_client) {
    quic(ngtcp2_crypto_gnutls_configure_client_session(end->session));
    quic(ngtcp2_conn_client_new(&end->conn, &ids[2], &ids[0], &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                                &params, NULL, end));
  } else {
    params.original_dcid = ids[2];
    quic(ngtcp2_crypto_gnutls_configure_server_session(end->session));
    quic(ngtcp2_conn_server_new(&end->conn, &ids[0], &ids[1], &path, NGTCP2_PROTO_VER_V1, &callbacks, &settings,
                                &params, NULL, end));
  }
  end->ref = (ngtcp2_crypto_conn_ref){conn_of, end}, end->stream = -1;
  gnutls_session_set_ptr(end->session, &end->ref);
  ngtcp2_conn_set_tls_native_handle(end->conn, end->session);
}

/* Sends all that this end may send now. */
static void send_all(int number) {
  static const uint8_t data[16384];
  end *end = &ends[number];
  if (ngtcp2_conn_get_expiry(end->conn) <= now) quic(ngtcp2_conn_handle_expiry(end->conn, now));
  if (number < PAIRS && end->stream < 0) ngtcp2_conn_open_uni_stream(end->conn, &end->stream, NULL);
  for (;;) {
    packet *packet = malloc(sizeof *packet);
    ngtcp2_pkt_info info = {0};
    ngtcp2_ssize taken, len;
    ngtcp2_vec vector = {(uint8_t *)data, sizeof data};
    len = ngtcp2_conn_writev_stream(end->conn, NULL, &info, packet->bytes, SIZE, &taken, 0, end->stream, &vector,
                                    end->stream >= 0, now);
    if (len == NGTCP2_ERR_STREAM_DATA_BLOCKED)
      len = ngtcp2_conn_writev_stream(end->conn, NULL, &info, packet->bytes, SIZE, NULL, 0, -1, NULL, 0, now);
    quic(len);
    if (len == 0) {
      free(packet);
      break;
    }
    packet->len = (size_t)len, packet->ecn = (uint8_t)info.ecn, packet->to = (number + PAIRS) % ENDS;
    packet->at = now + DELAY;
    if (number < PAIRS) enqueue(packet, (uint64_t)number);
    else put(&back, packet);
  }
  ngtcp2_conn_update_pkt_tx_time(end->conn, now);
}

static void receive(packet *packet) {
  ngtcp2_pkt_info info = {packet->ecn};
  if (now >= WARM && packet->to >= PAIRS) delivered[packet->to - PAIRS] += packet->len + OVERHEAD;
  if (packet->to != CBR) quic(ngtcp2_conn_read_pkt(ends[packet->to].conn, &path, &info, packet->bytes, packet->len, now));
  free(packet);
}

static void credentials(void) {
  gnutls_x509_privkey_t key;
  gnutls_x509_crt_t certificate;
  tls(gnutls_x509_privkey_init(&key)), tls(gnutls_x509_crt_init(&certificate));
  tls(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
  tls(gnutls_x509_crt_set_version(certificate, 3)), tls(gnutls_x509_crt_set_serial(certificate, "1", 1));
  tls(gnutls_x509_crt_set_key(certificate, key));
  tls(gnutls_x509_crt_set_activation_time(certificate, time(NULL) - 60));
  tls(gnutls_x509_crt_set_expiration_time(certificate, time(NULL) + 3600));
  tls(gnutls_x509_crt_sign2(certificate, certificate, key, GNUTLS_DIG_SHA256, 0));
  tls(gnutls_certificate_allocate_credentials(&server_credentials));
  tls(gnutls_certificate_allocate_credentials(&client_credentials));
  tls(gnutls_certificate_set_x509_key(server_credentials, &certificate, 1, key));
}

static void earlier(uint64_t *next, uint64_t at) {
  if (at < *next) *next = at;
}

int main(int argc, char **argv) {
  fw_site site = {.rate_bps = RATE, .buffer = "100 packets", .seed = 1, .packet_bytes = SIZE + OVERHEAD};
  char why[512];
  if (argc != 2) return fprintf(stderr, "usage: quic LAW\n"), 2;
  if (fw_build(FW_ABI_VERSION, argv[1], "", &site, &queue, why, sizeof why) != FW_OK) fail(argv[1], why);
  fw_set_callback(queue, on_event, NULL);
  credentials();
  now = START;
  for (int i = 0; i < PAIRS; i++) {
    ngtcp2_cid ids[3];
    for (int j = 0; j < 3; j++) random_bytes(ids[j].data, ids[j].datalen = 16, NULL);
    begin(i, ids), begin(i + PAIRS, ids);
  }
  for (uint64_t cbr_at = START + 2000 * MS, ready; now < END;) {
    for (; there.first && there.first->at <= now;) receive(take(&there));
    for (; back.first && back.first->at <= now;) receive(take(&back));
    for (int i = 0; i < ENDS; i++) send_all(i);
    for (; cbr_at <= now; cbr_at += CBR_GAP) {
      packet *packet = calloc(1, sizeof *packet);
      packet->len = SIZE, packet->to = CBR;
      enqueue(packet, CBR);
    }
    transmit();
    uint64_t next = cbr_at;
    if (there.first) earlier(&next, there.first->at);
    if (back.first) earlier(&next, back.first->at);
    if (fw_ready_at(queue, &ready) == 1) earlier(&next, ready > free_at ? ready : free_at);
    for (int i = 0; i < ENDS; i++) earlier(&next, ngtcp2_conn_get_expiry(ends[i].conn));
    now = next > now ? next : now + 1;
  }
  printf("%-10s", argv[1]);
  for (int i = 0; i <= PAIRS; i++) printf(" %6.2f", (double)delivered[i] * 8e3 / (double)(END - WARM));
  printf("\n");
  return 0;
}
