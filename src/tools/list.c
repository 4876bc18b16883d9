/* list_files. */
#include "tools/tools_int.h"

#include "base/text.h"

#define LIST_MAX 10000
#define LIST_TEXT 100

struct page {
    size_t offset, limit, text_limit;
};

static struct page page_of(const struct al_json *args)
{
    int64_t offset = 0, limit = 0;
    al_json_int(al_json_get(args, "offset"), 0, INT32_MAX, &offset);
    bool given = al_json_int(al_json_get(args, "limit"), 1, LIST_MAX, &limit);
    return (struct page){(size_t)offset, given ? (size_t)limit : LIST_MAX, given ? (size_t)limit : LIST_TEXT};
}

/* Writes names from the page on, as many as fit; returns where the next page starts. */
static size_t write_names(struct al_call *call, const struct al_listing *l, struct page page, struct al_jw *w,
                          size_t *ret_shown)
{
    autobuf struct al_buf name = AL_BUF_INIT(16384);
    size_t i = page.offset, chars = 0, shown = 0;
    bool text_open = true;
    for (; i < l->n_names && i - page.offset < page.limit && !atomic_load(&call->cancelled); i++) {
        al_buf_clear(&name);
        al_tool_place_prefix(&l->place, l->names[i], &name);
        al_buf_add_str(&name, l->names[i]);
        struct al_str s = al_buf_str(&name);
        if (call->structured.n + al_tool_json_cost(s) + 16 > AL_TOOL_JSON_ROOM)
            break;
        al_jw_str(w, s);
        chars += s.n + 1;
        text_open = text_open && shown < page.text_limit && chars <= AL_TOOL_TEXT_CHARS;
        if (text_open) {
            al_text_visible(&call->text, s, false);
            al_buf_addc(&call->text, '\n');
            shown++;
        }
    }
    *ret_shown = shown;
    return i;
}

static void list_work(struct al_call *call)
{
    struct al_listing *l = call->impl;
    struct page page = page_of(call->args);
    if (al_listing_sort(l, &call->err) == 0) {
        struct al_jw w;
        size_t shown;
        al_jw_init(&w, &call->structured);
        al_jw_obj(&w);
        al_jw_key(&w, "files");
        al_jw_arr(&w);
        size_t next = write_names(call, l, page, &w, &shown);
        bool more = next < l->n_names;
        al_jw_end(&w);
        al_jw_key(&w, "nextOffset");
        if (more)
            al_jw_int(&w, (int64_t)next);
        else
            al_jw_null(&w);
        al_jw_kbool(&w, "truncated", more || l->truncated);
        al_jw_end(&w);
        al_buf_addf(&call->text, "[%zu of %zu%s files", shown, l->n_names, l->truncated ? "+" : "");
        if (page.offset + shown < l->n_names)
            al_buf_addf(&call->text, "; go on with offset %zu", page.offset + shown);
        al_buf_adds(&call->text, "]\n");
    }
}

static void list_start(struct al_call *call)
{
    struct al_str path = al_json_get_text(call->args, "path");
    if (path.n == 0)
        path = AL_STR(".");
    else if (al_str_is(path, "scratch:"))
        path = AL_STR("scratch:.");
    al_listing_start(call, path, al_json_get_text(call->args, "glob"),
                     al_json_is_true(al_json_get(call->args, "hidden")), list_work);
}

const struct al_tool al_tool_list_files = {
    .name = "list_files",
    .title = "List files",
    .description = "Lists the files beneath a folder, all levels, sorted, as paths that other tools take. "
                   "Files that .gitignore "
                   "names, .git, node_modules and (unless hidden is true) names that start with a dot are "
                   "left out. The text "
                   "shows 100 paths unless limit says otherwise; the structured value {files, nextOffset, "
                   "truncated} holds up "
                   "to 10,000. Go on with offset: nextOffset. `scratch:` lists the scratchpad.",
    .brief =
        "Lists the files beneath a folder, all levels, without what .gitignore names. In "
        "scripts: {files: [paths], nextOffset}.",
    .input_schema =
        "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"maxLength\":4096,"
        "\"description\":"
        "\"Folder; default the workspace; scratch: is the "
        "scratchpad\"},\"glob\":{\"type\":\"string\",\"minLength\":1,"
        "\"maxLength\":1024,\"description\":\"Only matching files, relative to path: *.c at any depth, "
        "src/**/*.ts, "
        "*.{js,ts}\"},\"hidden\":{\"type\":\"boolean\",\"description\":\"Also names that start with a dot\"},"
        "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"Skip so many files. Default "
        "0.\"},\"limit\":{"
        "\"type\":\"integer\",\"minimum\":1,\"maximum\":10000,\"description\":\"At most so many files\"}},"
        "\"additionalProperties\":false}",
    .output_schema = "{\"type\":\"object\",\"properties\":{\"files\":{\"type\":\"array\",\"items\":{\"type\":"
                     "\"string\"}},\"nextOffset\":{\"type\":[\"integer\",\"null\"]},\"truncated\":{\"type\":"
                     "\"boolean\"}}}",
    .effect = AL_EFFECT_READ,
    .expose = "files",
    .idempotent = true,
    .start = list_start,
    .cancel = al_listing_cancel,
};
