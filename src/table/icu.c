#include "table/icu.h"
