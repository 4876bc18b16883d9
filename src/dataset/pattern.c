#include "dataset/pattern.h"
