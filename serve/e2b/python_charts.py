# What E2B's clients know as a chart: the data of a figure of matplotlib, once it was drawn.
def chart_of(figure):
    import math, re
    from matplotlib import collections, container, dates, patches

    POINTS_MAX = 10_000  # of a figure; of a larger one there is the picture only
    left = POINTS_MAX

    def number(value):
        value = round(float(value), 4)  # matplotlib computes angles with 24 bits
        return value if math.isfinite(value) else None

    def scale_of(axis):
        converter = type(getattr(axis, "converter", None)).__name__
        return "datetime" if "Date" in converter else "categorical" if "Category" in converter else axis.get_scale()

    def value_on(axis, value):
        if scale_of(axis) == "datetime":
            return dates.num2date(value).isoformat()
        return {at: text for text, at in axis.units._mapping.items()}.get(value, number(value)) \
            if scale_of(axis) == "categorical" and axis.units else float(value) if math.isfinite(value) else None

    def texts_of(axis):
        return [label.get_text() for label in axis.get_ticklabels()]

    def text_at(axis, place):
        found = [text for tick, text in zip(axis.get_ticklocs(), texts_of(axis)) if abs(tick - place) < 1e-6]
        return found[0] if found else str(number(place))

    def axis_fields(name, axis):
        label = axis.get_label_text() or None
        unit = re.search(r"\(([^()]*)\)\s*$", label or "")
        return {f"{name}_label": label, f"{name}_unit": unit and unit[1]}

    def tick_fields(name, axis):
        return {f"{name}_ticks": [value_on(axis, tick) for tick in axis.get_ticklocs()],
                f"{name}_tick_labels": texts_of(axis), f"{name}_scale": scale_of(axis)}

    def points(axes, label, xs, ys):
        nonlocal left
        left -= len(xs)
        if left < 0:
            raise OverflowError("too many points")
        return {"label": label, "points": [[value_on(axes.xaxis, x), value_on(axes.yaxis, y)] for x, y in zip(xs, ys)]}

    # Of a box plot matplotlib keeps the lines: what is what they tell by their shapes. `flat`: the boxes lie.
    def boxes_of(axes, flat):
        def ends(xs, ys):
            xs, ys = (ys, xs) if flat else (xs, ys)
            return [float(x) for x in xs], [float(y) for y in ys]
        outlines = [patch.get_path().vertices.T for patch in axes.patches if type(patch) is patches.PathPatch]
        lines = [ends(*line.get_data(orig=False)) + (line.get_linestyle(),) for line in axes.lines]
        closed = [line.get_data(orig=False) for line in axes.lines if len(line.get_xdata()) == 5]
        outlines += [(xs, ys) for xs, ys in closed if xs[0] == xs[4] and ys[0] == ys[4] and len(set(xs)) == 2 == len(set(ys))]
        boxes = []
        for outline in outlines:
            xs, ys = ends(*outline)
            place, low, high = (min(xs) + max(xs)) / 2, min(ys), max(ys)
            near = [(x, y, style) for x, y, style in lines if len(x) != 5 and x and abs(sum(x) / len(x) - place) < 1e-6]
            whiskers = [y for x, y, style in near if len(x) == 2 and x[0] == x[1] and style != "None"]
            medians = [y[0] for x, y, style in near if len(x) == 2 and x[0] != x[1] and low <= y[0] == y[1] <= high]
            if len(whiskers) != 2 or not medians:
                continue
            wide = max((x[1] - x[0], y[0]) for x, y, style in near if len(x) == 2 and x[0] != x[1] and y[0] in medians)
            boxes.append({"label": text_at(axes.yaxis if flat else axes.xaxis, place),
                          "min": number(min(map(min, whiskers))), "first_quartile": number(low),
                          "median": number(wide[1]), "third_quartile": number(high),
                          "max": number(max(map(max, whiskers))),
                          "outliers": [number(value) for x, y, style in near if style == "None" for value in y]})
        return boxes

    def chart(axes):
        both = {**axis_fields("x", axes.xaxis), **axis_fields("y", axes.yaxis)}
        ticks = {**tick_fields("x", axes.xaxis), **tick_fields("y", axes.yaxis)}
        wedges = [patch for patch in axes.patches if isinstance(patch, patches.Wedge)]
        if wedges:
            return {"type": "pie", "elements": [{"label": one.get_label(), "angle": number(one.theta2 - one.theta1),
                                                 "radius": number(one.r)} for one in wedges]}
        boxes = boxes_of(axes, False) or boxes_of(axes, True)
        if boxes:
            return {"type": "box_and_whisker", **both, "elements": boxes}
        bars = [one for one in axes.containers if isinstance(one, container.BarContainer)]
        if bars:
            elements = []
            for group in bars:
                lies = group.orientation == "horizontal"
                for bar in group.patches:
                    place = bar.get_y() + bar.get_height() / 2 if lies else bar.get_x() + bar.get_width() / 2
                    elements.append({"label": text_at(axes.yaxis if lies else axes.xaxis, place),
                                     "value": number(bar.get_width() if lies else bar.get_height()),
                                     "group": group.get_label()})
            return {"type": "bar", **both, "elements": elements}
        if axes.lines:
            return {"type": "line", **both, **ticks,
                    "elements": [points(axes, one.get_label(), *one.get_data(orig=False)) for one in axes.lines]}
        dots = [one for one in axes.collections if isinstance(one, collections.PathCollection)]
        if dots:
            return {"type": "scatter", **both, **ticks,
                    "elements": [points(axes, one.get_label(), *one.get_offsets().T) for one in dots]}
        return {"type": "unknown", "elements": []}

    try:
        charts = [{**chart(axes), "title": axes.get_title() or None} for axes in figure.axes]
        title = figure._suptitle.get_text() if figure._suptitle else None
        return charts[0] if len(charts) == 1 else {"type": "superchart", "title": title, "elements": charts}
    except Exception:  # of a figure that is like no other there is the picture
        return None


