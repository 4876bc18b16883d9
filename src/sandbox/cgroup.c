#include "sandbox/cgroup.h"

void al_cgroup_sweep(void)
{
}
