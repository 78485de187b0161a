#define _GNU_SOURCE
#include "CLinux.h"
#include <sys/prctl.h>

int clinux_set_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }
