"""The schemas, compiled by protoc when first asked for, and frames."""

import atexit
import importlib
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FRAME_BYTES_MAX = (1 << 20) + (64 << 10)


def _compile():
    folder = tempfile.mkdtemp(prefix="firn-pypeer-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    schemas = ["proto/peer.proto", "proto/manifest.proto", "proto/tracker.proto",
               "last_version.proto"]
    subprocess.run(["protoc", f"-I{ROOT}", f"-I{HERE}", f"--python_out={folder}", *schemas],
                   check=True, cwd=ROOT)
    pathlib.Path(folder, "proto", "__init__.py").touch()
    sys.path.insert(0, folder)
    try:
        return [importlib.import_module(schema.replace("/", ".").replace(".proto", "_pb2"))
                for schema in schemas]
    finally:
        sys.path.remove(folder)


peer_pb2, manifest_pb2, tracker_pb2, last_version_pb2 = _compile()


def frame(data):
    """A 4-byte big-endian length, then so many bytes."""
    return struct.pack(">I", len(data)) + data


class FrameReader:
    """Cuts a stream, fed in any pieces, into frames."""

    def __init__(self):
        self._buffer = b""

    def feed(self, data):
        self._buffer += data

    def next(self):
        """The next whole frame, or None if more bytes are needed."""
        if len(self._buffer) < 4:
            return None
        length = struct.unpack(">I", self._buffer[:4])[0]
        if not 1 <= length <= FRAME_BYTES_MAX:
            raise ValueError(f"a frame of {length} bytes")
        if len(self._buffer) < 4 + length:
            return None
        data, self._buffer = self._buffer[4 : 4 + length], self._buffer[4 + length :]
        return data
