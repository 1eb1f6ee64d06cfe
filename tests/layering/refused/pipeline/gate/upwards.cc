#include "pipeline/config/config.h"
#include "pipeline/gate/gate.h"
#include "pipeline/run/suite_run.h"
