#include "data/data.h"
