# Blocks that begin something and end it, whenever an interrupt comes. Included by _backend.pyx.
#
# Python looks for signals after each call that Python code makes, so that an interrupt may come between what begins
# something and the `try` that would end it. It does not look while compiled functions call each other, nor between a
# compiled `__enter__` and the block.

@cython.auto_pickle(False)
@cython.no_gc_clear
cdef class Entered:
    """Entered(begin, end, value=None, *, gives_itself=False)\n--\n
    A `with` block that begins something and ends it, once.

    begin: a compiled function without arguments. end: a compiled function that gets what begin returned, or nothing
    where that is None. value: what the block gets; None: what begin returned. gives_itself: the block gets this object.
    Where the end of the block is not reached though it began, the end of this object ends it.
    """
    cdef object begin, end, value, state
    cdef bint gives_itself, entered

    def __init__(self, begin: Callable[..., object], end: Callable[..., object], value: object = None, *,
                 gives_itself: bool = False) -> None:
        self.begin, self.end, self.value, self.gives_itself = begin, end, value, gives_itself

    def _before(self) -> None:
        """What is done before it begins. It may raise."""

    def _after(self, ended: Any) -> None:
        """What is done once it has ended, with what `end` returned. It may raise."""

    cdef object finish(self):
        self.entered = False
        state, self.state = self.state, None
        return self.end() if state is None else self.end(state)

    def __enter__(self) -> Any:
        if self.entered:
            raise InvalidValueError("The block was entered before and has not ended", op="with",
                                    remedy="Make another one.")
        self._before()
        self.state = self.begin()
        self.entered = True
        return self if self.gives_itself else self.state if self.value is None else self.value

    def __exit__(self, *error: object) -> None:
        if self.entered:
            self._after(self.finish())

    def __dealloc__(self):
        if self.entered:
            self.finish()
