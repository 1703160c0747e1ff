# Declarations of the C++ headers, one file a header; std.pxd and python.pxd: of the headers that are not ours.
