#include "dataset/cell.h"
