#include "common/upwards.h"
#include "rules/rule.h"  // common knows nothing of rules
