/* Files that lie in the binary, put there by the build, each once: what pages and scripts bring along. No code. */
#ifndef AL_ASSETS_ASSETS_H
#define AL_ASSETS_ASSETS_H

#include "base/str.h"

struct al_asset {
    const char *name; /* of the file, without its folder: "charts.css" */
    const char *start, *end; /* its bytes; alive for ever, a zero behind them */
};

/* The files of alisio_runtime, as they are copied beside each script: its modules, styles, scripts, and Chart.js. */
size_t al_assets_runtime(const struct al_asset **ret);

/* Any file by its name: one of alisio_runtime's, "dashboard.js", "dashboard.css". Ends the program when there is none: names
 * are written in the source, and a test asks for each. */
struct al_str al_asset(const char *name);

#endif
