#include "upstream/upstream.h"
