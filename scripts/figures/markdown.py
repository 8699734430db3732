"""Markdown tables and the numbers in them."""


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def number(value, digits=3):
    """With `digits` significant digits, thousands separated; '-' for nothing, powers of ten if small."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    if abs(value) < 0.001:
        mantissa, power = f"{value:.{digits - 1}e}".split("e")
        return f"{float(mantissa):g}e{int(power)}"
    text = f"{value:.{digits}g}"
    return f"{float(text):,.0f}" if "e" in text or abs(value) >= 1000 else text


def percent(share, digits=2):
    return "-" if share is None else f"{number(100 * share, digits)} %"


def mib(count):
    return f"{number(count / 2**30)} GiB" if count >= 2**30 else f"{number(count / 2**20)} MiB"


def made_on(result):
    """The line above a table: the machine and the day."""
    machine = result["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores, {machine['date']}"
