/* What the files of the tool webfetch share: a page from its URL to a text. */
#ifndef AL_TOOLS_WEBFETCH_INT_H
#define AL_TOOLS_WEBFETCH_INT_H

#include "http/client.h"
#include "tools/tools_int.h"

#define AL_WEBFETCH_BODY (5u << 20)
#define AL_WEBFETCH_TEXT (4 * AL_WEBFETCH_BODY) /* of a body as UTF-8: a byte becomes three at most */
#define AL_WEBFETCH_CHARS 20000                 /* of the text for a model */

enum al_webfetch_format {
    AL_WEBFETCH_MARKDOWN,
    AL_WEBFETCH_PLAIN,
    AL_WEBFETCH_HTML
};

struct al_webfetch {
    struct al_call *call;
    struct al_http_client *client;
    struct al_http *http;
    struct al_vm *vm;
    struct al_scratch *scratch; /* borrowed; NULL: none */
    enum al_webfetch_format format;

    char *final_url, *content_type, *charset; /* of the answer's head */
    int status;
    bool html; /* the answer is a page, to be converted */
    struct al_buf body;
    bool cut;            /* the text is not all there is */
    struct al_buf text;  /* valid UTF-8 */
    struct al_buf input; /* for the VM: JSON */
    struct al_buf value; /* of the VM: JSON */
};

/* --- webfetch_text.c: pure --- */
/* Whether a content type (in lower case, without parameters) is one of text. */
bool al_webfetch_is_text(struct al_str content_type);
/* Whether a body is a page: by its type, or where the server names none by how it begins. */
bool al_webfetch_is_html(struct al_str content_type, struct al_str body);
/*
 * To UTF-8: by the byte order mark, else the charset that the head or a page's first KiB names, else as UTF-8
 * where it is valid and as windows-1252 where it is not. TOOL_ERROR when it is no text.
 */
int al_webfetch_decode(struct al_str body, const char *charset, bool html, struct al_buf *out,
                       struct al_err *err) AL_MUST_CHECK;

/* --- webfetch_vm.c --- */
/* The page as the VM's input; on the pool. */
void al_webfetch_input(struct al_webfetch *f);
/* Converts in a sealed VM; done comes later, with call->err set when it failed, else with f->value. -1: did
 * not start. */
int al_webfetch_convert(struct al_webfetch *f, void (*done)(struct al_webfetch *f)) AL_MUST_CHECK;
/* f->value to f->text; on the pool. What the VM says is a claim: -1 with call->err when it makes no sense. */
int al_webfetch_take(struct al_webfetch *f) AL_MUST_CHECK;

/* --- webfetch_result.c --- */
void al_webfetch_result(struct al_webfetch *f); /* on the pool */

/* --- for tests: which addresses may be reached; NULL: those of the public internet --- */
struct sockaddr;
void al_webfetch_allow(bool (*is_public)(const struct sockaddr *address));

#endif
