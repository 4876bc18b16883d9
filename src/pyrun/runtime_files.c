/* alisio_runtime, as it is copied beside each script: its files lie in the binary, put there by the build. */
#include "pyrun/job_int.h"

/* gen/pyrun_files.h: one AL_PY_FILE(number, name, path) for each. */
#define AL_PY_FILE(number, name, path)      \
    __asm__(".pushsection .rodata\n"        \
            "al_py_file_" #number ":\n"     \
            ".incbin \"" path "\"\n"        \
            "al_py_file_" #number "_end:\n" \
            ".byte 0\n"                     \
            ".popsection\n");               \
    extern const char al_py_file_##number[], al_py_file_##number##_end[];
#include "pyrun_files.h"
#undef AL_PY_FILE

#define AL_PY_FILE(number, name, path) {name, al_py_file_##number, al_py_file_##number##_end},
static const struct al_py_file files[] = {
#include "pyrun_files.h"
    {NULL, NULL, NULL}};

size_t al_py_runtime_files(const struct al_py_file **ret)
{
    *ret = files;
    return sizeof(files) / sizeof(files[0]) - 1;
}
