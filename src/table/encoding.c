#include "table/source.h"
