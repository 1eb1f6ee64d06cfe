# A context of the code interpreter: reads lines of JSON {"id", "code", "env"} from standard input, runs each in one and
# the same module, and says what happens as lines of JSON on standard output, each with that id. What a child process
# prints comes on standard error.
def serve():
    import ast, base64, builtins, io, json, linecache, os, signal, sys, traceback, types

    lines = os.fdopen(os.dup(0), "r", encoding="utf-8")
    says = os.fdopen(os.dup(1), "w", encoding="ascii")
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)

    current = {"id": None, "runs": False}

    # One that comes late is for code that has ended.
    def interrupt(*_):
        if current["runs"]:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)

    def clean(text):
        return text.encode("utf-8", "backslashreplace").decode()  # half a surrogate is no text

    def say(**event):
        event = {key: clean(value) if isinstance(value, str) else value for key, value in event.items()}
        says.write(json.dumps({**event, "id": current["id"]}, allow_nan=False) + "\n")
        says.flush()

    class Stream(io.TextIOBase):
        def __init__(self, name):
            self.name, self.held = name, ""

        def writable(self):
            return True

        def write(self, text):
            self.held += text
            if "\n" in text or len(self.held) > 65536:
                self.flush()
            return len(text)

        def flush(self):
            held, self.held = self.held, ""
            for at in range(0, len(held), 65536):
                say(type=self.name, text=held[at:at + 65536])

        def fileno(self):
            return 2

    sys.stdout, sys.stderr = Stream("stdout"), Stream("stderr")

    def forms(value):
        text = repr(value)
        quoted = len(text) > 1 and text[0] == text[-1] == "'"  # without them, as in E2B's own sandboxes
        found = {"text": text[1:-1] if quoted else text}
        for key, name in (("html", "_repr_html_"), ("markdown", "_repr_markdown_"), ("svg", "_repr_svg_"),
                          ("latex", "_repr_latex_"), ("json", "_repr_json_"), ("javascript", "_repr_javascript_"),
                          ("png", "_repr_png_"), ("jpeg", "_repr_jpeg_"), ("pdf", "_repr_pdf_")):
            try:
                form = getattr(value, name)()
                form = form[0] if isinstance(form, tuple) else form
                if isinstance(form, bytes):
                    form = base64.b64encode(form).decode()
                if form is not None:
                    json.dumps(form, allow_nan=False, ensure_ascii=False).encode()
                    found[key] = form
            except Exception:
                pass
        if "json" not in found and isinstance(value, (dict, list)):
            try:
                json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
                found["json"] = value
            except Exception:
                pass
        if type(value).__name__ == "DataFrame":
            try:
                if value.size > 10_000:  # of a larger one there is what it shows of itself
                    raise OverflowError
                table = json.loads(value.to_json(orient="split", date_format="iso"))
                found["data"] = {str(name): [row[at] for row in table["data"]] for at, name in enumerate(table["columns"])}
                json.dumps(found["data"], allow_nan=False, ensure_ascii=False).encode()
            except Exception:
                found.pop("data", None)
        return found

    def show(value, is_main=False):
        sys.stdout.flush()
        figure = sys.modules.get("matplotlib.figure")
        if figure and isinstance(value, figure.Figure):
            return show_figure(value)
        say(type="result", is_main_result=is_main, **forms(value))

    def show_figure(figure):
        image = io.BytesIO()
        figure.savefig(image, format="png", bbox_inches="tight")
        chart = chart_of(figure)
        try:
            json.dumps(chart, allow_nan=False, ensure_ascii=False).encode()
        except Exception:
            chart = None
        say(type="result", is_main_result=False, text=repr(figure), png=base64.b64encode(image.getvalue()).decode(),
            **({"chart": chart} if chart else {}))

    def show_figures():
        plot = sys.modules.get("matplotlib.pyplot")
        try:
            for number in plot.get_fignums() if plot else []:
                show_figure(plot.figure(number))
        finally:
            if plot:
                plot.close("all")

    # What IPython takes beside Python: code that is indented as a whole, and lines of the shell.
    def parsed(code, name):
        first = next((line for line in code.split("\n") if line.strip()), "")
        indent = first[:len(first) - len(first.lstrip())]
        if indent:
            code = "\n".join(line[len(indent):] if line.startswith(indent) else line for line in code.split("\n"))
        try:
            return ast.parse(code, name)
        except SyntaxError:
            import re
            lines = re.sub(r"^(\s*)!(.+)$", lambda line: f"{line[1]}__shell__({line[2]!r})", code, flags=re.MULTILINE)
            if lines == code:
                raise
            return ast.parse(lines, name)

    def shell(line):
        import subprocess
        with subprocess.Popen(line, shell=True, stdout=subprocess.PIPE, text=True, errors="replace") as started:
            for text in started.stdout:
                print(text, end="")

    # As a shell says it: under the name by which one has come here, while that is still the same folder.
    real, home = os.getcwd, os.environ.get("PWD", "")

    def getcwd():
        here = real()
        return home if home and os.path.realpath(home) == here else here

    os.getcwd = getcwd
    loop = None

    def run(tree, name, mode):
        nonlocal loop
        program = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        value = eval(program, main.__dict__)
        if program.co_flags & 0x80:  # inspect.CO_COROUTINE: it awaits something
            import asyncio
            if loop is None:
                loop = asyncio.new_event_loop()
                asyncio.set_event_loop(loop)
            value = loop.run_until_complete(value)
        return value

    os.environ.setdefault("MPLBACKEND", "Agg")
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __shell__=shell, display=lambda *values: [show(value) for value in values] and None)
    sys.modules["__main__"] = main
    sys.path[0:1] = [""]
    count = 0
    for line in lines:
        request = json.loads(line)
        code, count = request["code"], count + 1
        name = "<cell %d>" % count
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        current["id"] = request["id"]
        before = dict(os.environ)
        begun = False
        current["runs"] = True
        try:
            say(type="number_of_executions", execution_count=count)
            os.environ.update(request["env"])
            tree = parsed(code, name)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            begun = True
            run(tree, name, "exec")
            value = None if last is None else run(ast.Expression(last.value), name, "eval")
            show_figures()
            if value is not None:
                main.__dict__["_"] = value
                show(value, True)
            current["runs"] = False
        except BaseException as error:
            current["runs"] = False
            trace = error.__traceback__ if begun else None
            text = "".join(traceback.format_exception(type(error), error, trace and trace.tb_next))
            try:
                value = str(error)
            except Exception:
                value = ""
            say(type="error", name=type(error).__name__, value=value, traceback=text)
        sys.stdout.flush()
        sys.stderr.flush()
        os.environ.clear()
        os.environ.update(before)
        say(type="end_of_execution")


serve()
