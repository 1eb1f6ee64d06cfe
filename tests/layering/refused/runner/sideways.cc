#include <vector>
#include "beside.h"
#include "docker/engine_client.h"
#include "redact/redactor.h"
