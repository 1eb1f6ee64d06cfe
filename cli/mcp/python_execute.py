# Run in the sandbox, as python3 -c: one JSON object on standard input {"code", "result", "bytes_max"}. Where the last
# statement is an expression, its repr() and, if JSON can hold it, its value go to the file `result`, a line of JSON each.
def execute():
    import sys

    here = sys.path.pop(0)  # no file of the workspace stands in for a module of this script
    import __main__, ast, json, linecache, traceback

    sys.path.insert(0, here)
    request = json.load(sys.stdin)
    code, name, scope = request["code"], "<python_execute>", vars(__main__)
    del scope["execute"]
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    begun = False
    try:
        tree = ast.parse(code, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        program = compile(tree, name, "exec")
        begun = True
        exec(program, scope)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), scope)
        text = None if value is None else repr(value)
    except SystemExit:
        raise
    except BaseException as error:
        # Without the frames of this script.
        trace = error.__traceback__ if begun else None
        traceback.print_exception(type(error), error, trace and trace.tb_next)
        sys.exit(1)
    if text is None:
        return
    if len(text) > request["bytes_max"]:
        text = text[: request["bytes_max"]] + "... (%d characters)" % len(text)
    try:
        held = json.dumps(value, allow_nan=False)
        json.dumps(value, ensure_ascii=False).encode()  # half a surrogate is no text
    except Exception:
        held = "null"
    with open(request["result"], "w") as file:
        file.write(json.dumps(text.encode("utf-8", "backslashreplace").decode()) + "\n")
        file.write((held if len(held) <= request["bytes_max"] else "null") + "\n")


execute()
