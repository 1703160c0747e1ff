# Declarations of stator's C++ headers, one file per header; std.pxd and python.pxd are for the headers of others.
