// cjose: signed JSON Web Tokens (RFC 7515, 7517, 7519).
#pragma once

#include <cjose/cjose.h>
