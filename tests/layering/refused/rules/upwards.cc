#include "common/result.h"
#include "rules/rule.h"
#include "tests/support/fake_engine.h"
#include "validator/finding.h"
