#include "rpc/sse.h"
