#  include "redact/redactor.h"
#include <vector>
#include "docker/engine_client.h"
#include "beside.h"
