"""Makes a C++ source of files that a program serves as they are.

    embed.py OUTPUT [FUNCTION FILE]...
"""

import pathlib
import sys


def main():
    output, *pairs = sys.argv[1:]
    parts = ['#include "proto/web/frame.h"\n\nnamespace firn::web {\n']
    for function, path in zip(pairs[::2], pairs[1::2]):
        data = pathlib.Path(path).read_bytes()
        lines = "\n".join(f"    {','.join(map(str, data[at:at + 24]))}," for at in range(0, len(data), 24))
        parts.append(f"static constexpr unsigned char k_{function}[] = {{\n{lines}\n}};\n"
                     f"std::string_view {function}() {{\n"
                     f"  return {{reinterpret_cast<const char*>(k_{function}), sizeof k_{function}}};\n}}\n")
    parts.append("}  // namespace firn::web\n")
    pathlib.Path(output).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
