#include "sandbox/guest.h"

int al_guest_main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 125;
}
