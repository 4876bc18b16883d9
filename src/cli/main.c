/* Enters one of the program's parts: the command line, the supervisor of a program, the last
 * steps before a script, the zygote of the VM, a
 * worker or the zygote of the data engine. */
#include "cli/cli.h"
#include "data/data.h"
#include "jsvm/engine.h"
#include "os/fd.h"
#include "os/spawn.h"
#include "pyrun/oci.h"
#include "sandbox/guest.h"
#include "sandbox/supervise.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], AL_SUPERVISE_VERB) == 0)
        return al_supervise_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_GUEST_VERB) == 0)
        return al_guest_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_OCI_VERB) == 0)
        return al_oci_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_ZYGOTE_VERB) == 0)
        return al_zygote_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_DATA_INGEST_VERB) == 0)
        return al_data_ingest_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_DATA_DASHBOARD_VERB) == 0)
        return al_data_dashboard_main(argc, argv);
    if (argc > 1 && strcmp(argv[1], AL_DATA_ZYGOTE_VERB) == 0)
        return al_data_zygote_main(argc, argv);
    al_fd_ensure_std();
    al_self_open();
#ifndef AL_ASAN
    /* No other process of the user reads our memory; the leak checker of a sanitizer build has to. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    signal(SIGPIPE, SIG_IGN);
    return al_cli_main(argc, argv);
}
