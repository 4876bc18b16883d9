/* Which addresses are of the public internet, by the special-purpose registries of IANA (RFC 6890 and its
 * updates). */
#include "http/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

struct net4 {
    uint32_t net;
    unsigned bits;
};

#define NET4(a, b, c, d, bits)                                 \
    {                                                          \
        (uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d), bits \
    }

static const struct net4 special4[] = {
    NET4(0, 0, 0, 0, 8),       /* this network */
    NET4(10, 0, 0, 0, 8),      /* private */
    NET4(100, 64, 0, 0, 10),   /* shared by carriers */
    NET4(127, 0, 0, 0, 8),     /* loopback */
    NET4(169, 254, 0, 0, 16),  /* link-local, and where clouds keep their metadata */
    NET4(172, 16, 0, 0, 12),   /* private */
    NET4(192, 0, 0, 0, 24),    /* protocol assignments */
    NET4(192, 0, 2, 0, 24),    /* documentation */
    NET4(192, 31, 196, 0, 24), /* AS112 */
    NET4(192, 52, 193, 0, 24), /* AMT */
    NET4(192, 88, 99, 0, 24),  /* 6to4 relays, deprecated */
    NET4(192, 168, 0, 0, 16),  /* private */
    NET4(192, 175, 48, 0, 24), /* AS112 */
    NET4(198, 18, 0, 0, 15),   /* benchmarks */
    NET4(198, 51, 100, 0, 24), /* documentation */
    NET4(203, 0, 113, 0, 24),  /* documentation */
    NET4(224, 0, 0, 0, 4),     /* multicast */
    NET4(240, 0, 0, 0, 4),     /* reserved, and broadcast */
};

static bool public4(const uint8_t *a)
{
    uint32_t ip = (uint32_t)a[0] << 24 | (uint32_t)a[1] << 16 | (uint32_t)a[2] << 8 | a[3];
    for (size_t i = 0; i < sizeof(special4) / sizeof(*special4); i++)
        if ((ip ^ special4[i].net) >> (32 - special4[i].bits) == 0)
            return false;
    return true;
}

static bool within6(const uint8_t *a, const uint8_t *net, unsigned bits)
{
    if (memcmp(a, net, bits / 8) != 0)
        return false;
    return bits % 8 == 0 || ((a[bits / 8] ^ net[bits / 8]) >> (8 - bits % 8)) == 0;
}

struct net6 {
    uint8_t net[16];
    unsigned bits;
};

static bool public6(const uint8_t *a)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    static const uint8_t six_to_four[2] = {0x20, 0x02};
    static const uint8_t unicast[1] = {0x20}; /* 2000::/3: all that is global is in it */
    static const struct net6 special[] = {
        {{0x20, 0x01}, 23},                         /* protocol assignments: Teredo, benchmarks, ORCHID */
        {{0x20, 0x01, 0x0d, 0xb8}, 32},             /* documentation */
        {{0x26, 0x20, 0x00, 0x4f, 0x80, 0x00}, 48}, /* AS112 */
        {{0x3f, 0xfe}, 16},                         /* 6bone, returned */
        {{0x3f, 0xff, 0x00}, 20},                   /* documentation */
    };
    if (within6(a, mapped, 96) || within6(a, nat64, 96))
        return public4(a + 12);
    if (within6(a, six_to_four, 16))
        return public4(a + 2);
    if (!within6(a, unicast, 3))
        return false;
    for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++)
        if (within6(a, special[i].net, special[i].bits))
            return false;
    return true;
}

bool al_http_address_public(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof(in));
        return public4((const uint8_t *)&in.sin_addr);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, address, sizeof(in));
        return public6(in.sin6_addr.s6_addr);
    }
    return false;
}
