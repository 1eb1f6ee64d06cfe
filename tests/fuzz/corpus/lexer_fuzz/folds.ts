const s = "a"; require(s + "b" + 1 + null); f("x".replace("x", "y").slice(1, -1).padStart(3), decodeURIComponent("%2e"), path.join("/proc", "..", "proc/self"), new URL("file:///a"));
