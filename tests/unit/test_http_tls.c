/* Certificates: a server on loopback with one that it has made itself is refused, and taken when it is named
 * as trusted, for the name that it was made for. */
#include "os_help.h"

#include "http/client.h"
#include "loop/loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <sys/socket.h>

#define LIMIT_MS 20000

struct tls {
    SSL_CTX *ctx;
    int fd, port;
    pthread_t thread;
};

/* For the address 127.0.0.1, or for a name that nobody asks for; valid from `from` seconds from now. */
static void make_certificate(struct tls *t, const char *subject, long from, long to, const char *pem_path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *x = X509_new();
    X509_set_version(x, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
    X509_gmtime_adj(X509_getm_notBefore(x), from);
    X509_gmtime_adj(X509_getm_notAfter(x), to);
    X509_set_pubkey(x, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC, (const unsigned char *)"test",
                               -1, -1, 0);
    X509_set_issuer_name(x, X509_get_subject_name(x));
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, subject);
    X509_add_ext(x, e, -1);
    X509_EXTENSION_free(e);
    assert_true(X509_sign(x, key, EVP_sha256()) > 0);
    t->ctx = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate(t->ctx, x), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey(t->ctx, key), 1);
    FILE *f = fopen(pem_path, "w");
    PEM_write_X509(f, x);
    fclose(f);
    X509_free(x);
    EVP_PKEY_free(key);
}

static void *tls_main(void *ud)
{
    struct tls *t = ud;
    for (int fd; (fd = accept4(t->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0; close(fd)) {
        SSL *ssl = SSL_new(t->ctx);
        char request[4096];
        SSL_set_fd(ssl, fd);
        if (SSL_accept(ssl) == 1 && SSL_read(ssl, request, sizeof(request)) > 0)
            SSL_write(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 40);
        SSL_free(ssl);
    }
    return NULL;
}

static void tls_start(struct tls *t, const char *subject, long from, long to, const char *pem_path)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    make_certificate(t, subject, from, to, pem_path);
    t->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(t->fd, (struct sockaddr *)&a, n), 0);
    assert_int_equal(listen(t->fd, 8), 0);
    getsockname(t->fd, (struct sockaddr *)&a, &n);
    t->port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&t->thread, NULL, tls_main, t), 0);
}

static void tls_stop(struct tls *t)
{
    shutdown(t->fd, SHUT_RDWR);
    pthread_join(t->thread, NULL);
    close(t->fd);
    SSL_CTX_free(t->ctx);
}

struct got {
    struct al_err err;
    int status;
    bool done;
};

static void on_head(void *ud, const struct al_http_head *head)
{
    ((struct got *)ud)->status = head->status;
}

static void on_done(void *ud, const struct al_err *err)
{
    struct got *g = ud;
    g->err = *err;
    g->done = true;
}

static void expect(const char *subject, long from, long to, bool trusted, const char *says)
{
    static const struct al_http_ops ops = {.head = on_head, .done = on_done};
    struct tmp tmp;
    struct tls t;
    struct got g = {0};
    struct al_err err;
    char pem[300], url[100];
    tmp_make(&tmp);
    snprintf(pem, sizeof(pem), "%s/own.pem", tmp.path);
    tls_start(&t, subject, from, to, pem);
    unsetenv("CURL_CA_BUNDLE");
    unsetenv("SSL_CERT_DIR");
    unsetenv("SSL_CERT_FILE");
    if (trusted)
        setenv("SSL_CERT_FILE", pem, 1);
    struct al_loop *loop = al_loop_new();
    struct al_http_client *c = al_http_client_new(loop);
    snprintf(url, sizeof(url), "https://127.0.0.1:%d/", t.port);
    assert_non_null(al_http_start(c, &(struct al_http_request){.url = url}, &ops, &g, &err));
    assert_true(al_loop_run_until(loop, &g.done, LIMIT_MS));
    if (!says) {
        assert_int_equal(g.err.code, AL_OK);
        assert_int_equal(g.status, 200);
    } else {
        assert_int_equal(g.err.code, AL_UPSTREAM_UNAVAILABLE);
        assert_int_equal(g.status, 0);
        if (!strstr(g.err.msg, says))
            fail_msg("%s", g.err.msg);
        assert_true(g.err.hint[0]);
        assert_string_equal(g.err.detail, AL_HTTP_UNTRUSTED);
    }
    al_http_client_free(c);
    al_loop_free(loop);
    tls_stop(&t);
    tmp_remove(&tmp);
}

#define DAY 86400L

static void only_certificates_that_are_trusted_are_taken(void **state)
{
    (void)state;
    expect("IP:127.0.0.1", -DAY, DAY, true, NULL);
    expect("IP:127.0.0.1", -DAY, DAY, false,
           "the certificate of 127.0.0.1 cannot be trusted: it is signed by itself");
    expect("DNS:example.org", -DAY, DAY, true, "it was issued for another name");
    expect("IP:127.0.0.1", -2 * DAY, -DAY, true, "it has expired");
    expect("IP:127.0.0.1", DAY, 2 * DAY, true, "it is not valid yet");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_certificates_that_are_trusted_are_taken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
