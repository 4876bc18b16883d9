#include "dataset/stats.h"
