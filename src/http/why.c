/* Why an exchange failed, in a person's words. Hosts are named; paths, queries and headers may hold secrets,
 * and are not. */
#include "http/client_int.h"

#include <errno.h>
#include <string.h>

/* OpenSSL's X509_V_ERR_*, which libcurl passes on. */
static const char *certificate_fault(long verify)
{
    switch (verify) {
    case 0:
    case 1:  /* what libcurl begins with: the chain was fine, or it would say more */
    case 62: /* hostname mismatch */
    case 64: /* IP address mismatch */
        return "it was issued for another name";
    case 9:
        return "it is not valid yet";
    case 10:
        return "it has expired";
    case 18:
    case 19:
        return "it is signed by itself";
    case 2:
    case 20:
    case 21:
        return "nobody whom this computer trusts has signed it";
    case 23:
        return "it has been revoked";
    default:
        return "it does not pass the checks";
    }
}

static int certificate(const struct al_http *h, struct al_err *err)
{
    long verify = 0;
    h->client->lib->easy_getinfo(h->easy, CURLINFO_SSL_VERIFYRESULT, &verify);
    al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the certificate of %s cannot be trusted: %s", h->host,
            certificate_fault(verify));
    if (verify == 9 || verify == 10)
        return al_hint(err, "check the date of this computer; else the site's owner must renew it");
    if (verify <= 1 || verify == 62 || verify == 64)
        return al_hint(err, "check the name in the URL");
    return al_hint(
        err,
        "where your network or server has an authority of its own, name its certificates in SSL_CERT_FILE");
}

/* Whether the host was given as that address, for IPv6 within brackets. */
static bool is_address(const char *host, const char *address)
{
    size_t n = strlen(address);
    return strcmp(host, address) == 0 ||
           (host[0] == '[' && strncmp(host + 1, address, n) == 0 && strcmp(host + 1 + n, "]") == 0);
}

static int no_connection(const struct al_http *h, struct al_err *err)
{
    if (h->denied[0] && h->private_only) {
        al_fail(err, AL_PERMISSION_DENIED, "%s is at %s, an address of the public internet", h->host,
                h->denied);
        return al_hint(err, "write https:// where the server has it");
    }
    if (h->denied[0]) {
        if (is_address(h->host, h->denied))
            al_fail(err, AL_PERMISSION_DENIED, "%s is no address of the public internet", h->host);
        else
            al_fail(err, AL_PERMISSION_DENIED, "%s is at %s, which is no address of the public internet",
                    h->host, h->denied);
        return al_hint(err, "loopback, private and link-local addresses are refused here");
    }
    long eno = 0;
    if (h->easy)
        h->client->lib->easy_getinfo(h->easy, CURLINFO_OS_ERRNO, &eno);
    if (h->proxy) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the proxy to %s cannot be reached", h->host);
        return al_hint(err, "check the variables http_proxy, https_proxy and no_proxy");
    }
    if (eno == ECONNREFUSED) {
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s refuses connections at port %s", h->host, h->port);
        return al_hint(err, "check that the server runs, and its port");
    }
    if (eno > 0)
        return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s cannot be reached at port %s: %s", h->host, h->port,
                       strerrordesc_np((int)eno));
    return al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s cannot be reached at port %s", h->host, h->port);
}

void al_http_why(const struct al_http *h, CURLcode code, struct al_err *err)
{
    switch (code) {
    case CURLE_URL_MALFORMAT:
        al_fail(err, AL_INVALID_INPUT, "not a URL that can be asked for");
        return;
    case CURLE_COULDNT_RESOLVE_PROXY:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the name of the proxy to %s cannot be resolved", h->host);
        al_hint(err, "check the variables http_proxy, https_proxy and no_proxy");
        return;
    case CURLE_COULDNT_RESOLVE_HOST:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the name %s cannot be resolved", h->host);
        al_hint(err, "check its spelling and the network");
        return;
    case CURLE_COULDNT_CONNECT:
        no_connection(h, err);
        return;
    case CURLE_PROXY:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the proxy does not connect to %s", h->host);
        return;
    case CURLE_OPERATION_TIMEDOUT:
        al_fail(err, AL_TIMEOUT, "%s took no connection within %.3g s", h->host,
                (double)h->connect_ms / 1000);
        return;
    case CURLE_PEER_FAILED_VERIFICATION:
        certificate(h, err);
        al_detail(err, AL_HTTP_UNTRUSTED);
        return;
    case CURLE_SSL_CONNECT_ERROR:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s and this computer agree on no encrypted connection",
                h->host);
        al_hint(err, "check whether that port speaks https");
        return;
    case CURLE_SSL_CACERT_BADFILE:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the certificates that this computer trusts cannot be read");
        al_hint(err, "install ca-certificates, or check SSL_CERT_FILE and SSL_CERT_DIR");
        al_detail(err, AL_HTTP_UNTRUSTED);
        return;
    case CURLE_ABORTED_BY_CALLBACK: /* of what is sent once: see on_begin */
    case CURLE_GOT_NOTHING:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "%s closed the connection without an answer", h->host);
        return;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the connection to %s broke%s", h->host,
                h->head_done ? " in the middle of the answer" : "");
        return;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "what answers at %s, port %s, does not speak HTTP", h->host,
                h->port);
        return;
    case CURLE_BAD_CONTENT_ENCODING:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the answer of %s is packed wrongly", h->host);
        return;
    case CURLE_OUT_OF_MEMORY: /* how libcurl says that a header line passes its own limits */
        al_fail(err, AL_RESULT_TOO_LARGE, "the head of the answer of %s is too large", h->host);
        return;
    default:
        al_fail(err, AL_UPSTREAM_UNAVAILABLE, "the exchange with %s failed (libcurl %d)", h->host, (int)code);
    }
}
