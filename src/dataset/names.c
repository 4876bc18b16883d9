#include "dataset/names.h"
