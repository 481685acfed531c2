"""A viewer of a desktop (RFB 3.8, RFC 6143): pictures in raw pixels, keys, the desktop's size. Reads and writes a stream of the relay."""

import struct

RETURN = 0xFF0D


class Viewer:
    """`stream` has read(n) and write(data)."""

    def __init__(self, stream):
        self.stream = stream
        assert stream.read(12) == b"RFB 003.008\n"
        stream.write(b"RFB 003.008\n")
        kinds = stream.read(stream.read(1)[0])
        assert kinds == b"\x01", "a desktop behind the relay asks for nothing"
        stream.write(b"\x01")
        assert stream.read(4) == bytes(4)
        stream.write(b"\x01")
        self.width, self.height = struct.unpack(">HH", stream.read(4))
        stream.read(16)
        self.name = stream.read(struct.unpack(">I", stream.read(4))[0]).decode()
        stream.write(struct.pack(">BxxxBBBBHHHBBBxxx", 0, 32, 24, 0, 1, 255, 255, 255, 16, 8, 0))
        stream.write(struct.pack(">BxHii", 2, 2, 0, -308))  # raw, ExtendedDesktopSize

    def ask(self, incremental=False):
        self.stream.write(struct.pack(">BBHHHH", 3, incremental, 0, 0, self.width, self.height))

    def whole_picture(self):
        """Updates until pixels come: the size may come alone, before them."""
        self.ask()
        found = self.picture()
        while not any(encoding == 0 for *_, encoding, _ in found):
            self.ask(incremental=True)
            found += self.picture()
        return found

    def picture(self):
        """The next update: its rectangles as (x, y, width, height, encoding, data)."""
        while True:
            kind = self.stream.read(1)[0]
            if kind == 0:
                return [self._rectangle() for _ in range(struct.unpack(">xH", self.stream.read(3))[0])]
            if kind == 3:
                self.stream.read(struct.unpack(">xxxi", self.stream.read(7))[0])
            elif kind == 1:
                _, count = struct.unpack(">xHH", self.stream.read(5))
                self.stream.read(6 * count)
            assert kind in (1, 2, 3), kind

    def _rectangle(self):
        x, y, width, height, encoding = struct.unpack(">HHHHi", self.stream.read(12))
        if encoding == -308:
            count = self.stream.read(4)[0]
            return x, y, width, height, encoding, self.stream.read(16 * count)
        assert encoding == 0
        return x, y, width, height, encoding, self.stream.read(4 * width * height)

    def type(self, text):
        for char in text:
            key = RETURN if char == "\n" else ord(char)
            self.key(key)

    def key(self, key):
        self.stream.write(struct.pack(">BBxxIBBxxI", 4, 1, key, 4, 0, key))

    def point(self, x, y, buttons=0):
        self.stream.write(struct.pack(">BBHH", 5, buttons, x, y))

    def resize(self, width, height):
        self.stream.write(struct.pack(">BxHHBx", 251, width, height, 1) + struct.pack(">IHHHHI", 0, 0, 0, width, height, 0))
