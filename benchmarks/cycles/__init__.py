"""Sample tables rendered with Blender's Cycles, which share no code with what reads them."""

import os

# Before OpenCV is imported: Cycles hands its pictures over in this format.
os.environ.setdefault("OPENCV_IO_ENABLE_OPENEXR", "1")
