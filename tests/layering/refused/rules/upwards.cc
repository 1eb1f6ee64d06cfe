#include "common/result.h"
#include "rules/rule.h"
#include "tests/support/engine/fake_engine.h"
#include "validator/finding.h"
