#include "tests/support/fake_engine.h"
#include "common/result.h"
#include "rules/rule.h"
#include "validator/finding.h"
