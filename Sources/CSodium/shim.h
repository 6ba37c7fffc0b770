// libsodium: Argon2id and secret boxes.
#pragma once

#include <sodium.h>
