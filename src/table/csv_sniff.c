#include "table/readers.h"
