/* Runs a libFuzzer target over each file of the folders that it is given, so that found inputs stay tests. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return -1;
    size_t cap = 1 << 24;
    uint8_t *all = malloc(cap);
    size_t n = all ? fread(all, 1, cap, f) : 0;
    fclose(f);
    /* An exact-size copy, so that AddressSanitizer sees a read past the end. */
    uint8_t *data = malloc(n ? n : 1);
    if (data && n)
        memcpy(data, all, n);
    free(all);
    if (!data)
        return -1;
    LLVMFuzzerTestOneInput(data, n);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned n = 0;
    for (int i = 1; i < argc; i++) {
        DIR *dir = opendir(argv[i]);
        if (!dir) {
            fprintf(stderr, "replay: no corpus at %s\n", argv[i]);
            return 1;
        }
        for (struct dirent *e; (e = readdir(dir));) {
            char path[4096];
            if (e->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", argv[i], e->d_name);
            if (replay_file(path) < 0) {
                fprintf(stderr, "replay: cannot read %s\n", path);
                return 1;
            }
            n++;
        }
        closedir(dir);
    }
    printf("%u inputs replayed\n", n);
    return n ? 0 : 1;
}
