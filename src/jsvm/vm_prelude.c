#include "jsvm/vm.h"

#include <stdio.h>

/* src/jsvm/prelude/, joined by the build. */
__asm__(".pushsection .rodata\n"
        ".global al_vm_prelude_js\n"
        "al_vm_prelude_js:\n"
        ".incbin \"" AL_PRELUDE_FILE "\"\n"
        ".global al_vm_prelude_js_end\n"
        "al_vm_prelude_js_end:\n"
        ".byte 0\n"
        ".popsection\n");
#define FIRST_COLLECTION \
    ((u32)1 << 20) /* bytes that a script allocates before the engine looks for garbage */

extern const char al_vm_prelude_js[], al_vm_prelude_js_end[];

struct al_vm_prelude al_vm_prelude;

static al_vm_value host_functions(void)
{
    al_vm_value host = Z_quickjsZ_qjs_new_object(&al_vm.q);
    for (unsigned i = 0; host && al_vm_host_names[i]; i++) {
        struct al_str name = al_str_of(al_vm_host_names[i]);
        u32 p = al_vm_alloc((u32)name.n + 1);
        char *z = p ? al_vm_view(p, name.n + 1) : NULL;
        if (!z)
            return 0;
        memcpy(z, name.p, name.n + 1);
        al_vm_value fn = Z_quickjsZ_qjs_new_host_function(&al_vm.q, p, (u32)name.n, 3);
        Z_quickjsZ_qjs_set_prop_string(&al_vm.q, host, p, fn);
        al_vm_free(fn);
        al_vm_release(p);
    }
    return host;
}

static bool report(const char *what, char *why, size_t n)
{
    struct al_vm_text t = {0};
    al_vm_value e = Z_quickjsZ_qjs_get_exception(&al_vm.q), m = e ? al_vm_get(e, "message") : 0;
    al_vm_value s = e ? al_vm_get(e, "stack") : 0;
    if (m && al_vm_text_get(m, &t))
        snprintf(why, n, "%s: %.*s", what, AL_FMT(t.s));
    else
        snprintf(why, n, "%s", what);
    size_t used = strlen(why);
    if (s && al_vm_text_get(s, &t))
        snprintf(why + used, n - used, " %.*s", AL_FMT(t.s));
    return false;
}

bool al_vm_prelude_build(char *why, size_t n)
{
    struct al_str code = {al_vm_prelude_js, (size_t)(al_vm_prelude_js_end - al_vm_prelude_js)};
    al_vm_value fn = al_vm_eval(code, "<prelude>", 0);
    if (al_vm_is_exception(fn))
        return report("the prelude does not compile", why, n);
    al_vm_value host = host_functions();
    al_vm_value made = al_vm_call(fn, 1, &host);
    al_vm_free(fn);
    if (al_vm_is_exception(made))
        return report("the prelude does not run", why, n);
    struct al_vm_prelude *p = &al_vm_prelude;
    p->start = al_vm_get(made, "start");
    p->deliver = al_vm_get(made, "deliver");
    p->finish = al_vm_get(made, "finish");
    p->deadlock = al_vm_get(made, "deadlock");
    p->fatal = al_vm_get(made, "fatal");
    al_vm_free(made);
    if (!p->start || !p->deliver || !p->finish || !p->deadlock || !p->fatal)
        return report("the prelude is not complete", why, n);
    /* A collection writes to every object, and in a run that copies every page: not for what was here before
     * it. */
    Z_quickjsZ_qjs_run_gc(&al_vm.q);
    Z_quickjsZ_qjs_set_gc_threshold(&al_vm.q, Z_quickjsZ_qjs_get_allocated_size(&al_vm.q) + FIRST_COLLECTION);
    return true;
}
