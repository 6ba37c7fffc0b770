#include "CEventLoops.h"
