#include "db/fdvfs.h"
