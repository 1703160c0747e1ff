# Declarations of the C++ headers, one file a header.
