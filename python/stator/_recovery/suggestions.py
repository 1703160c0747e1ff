"""What may help after an error, by its type and by what it carries."""

from __future__ import annotations

from collections.abc import Iterator

from stator import errors
from stator._recovery.conversion import is_sticky

_OF_TYPE: dict[type[errors.StatorError], tuple[str, ...]] = {
    errors.OutOfMemoryError: (
        "Release arrays that are not needed any more, or work in smaller pieces.",
        "Free what a part of the program made at its end: with be.scoped().",
        "See what is alive: be.resources() and be.memory.stats().",
    ),
    errors.DeviceUnavailableError: (
        "Let `python -m stator doctor` find the cause.",
        'Work on the host: Backend("cpu").',
    ),
    errors.BackendClosedError: (
        "Open another backend like it: be.reopen().",
        "Keep what a scope made beyond its end: scope.keep(array).",
    ),
    errors.BackendMismatchError: ("Move one operand: x.to_device(be.device).",),
    errors.ForkedProcessError: (
        "Open a backend in the child, after the fork.",
        'Start processes by multiprocessing.get_context("spawn").',
    ),
    errors.CaptureError: ("Do before the capture what needs values on the host, or what cannot be captured.",),
    errors.CompileError: ("Read the log in .cause; it has the lines of the source.",),
    errors.LibraryNotFoundError: ("Let `python -m stator doctor` say which libraries are missing.",),
    errors.StreamOrderError: ("Order the streams: second.wait(first.record()).",),
    errors.HostCopyError: ("Give the op a fixed size of its result, or leave be.forbid_host_copies().",),
    errors.SynchronizationError: ("Read results after the loop, all at once, or leave be.telemetry.sync_debug().",),
    errors.InFlightError: ("Wait for the other calls to end, then call again.",),
    errors.CleanupError: ("See .errors for what each cleanup raised; the others ran.",),
    errors.ConfigurationError: ("See where each value comes from: `python -m stator info`.",),
    errors.ResourceClosedError: ("Ask is_available() of the holder first; who took the resource has it.",),
    errors.ProviderError: (
        "See .errors for what the package raised, and stator.backends.registry.failures for others.",
        "Take another provider: stator.backends.registry.list() has their names.",
    ),
    errors.ExtensionError: ("See .errors for what each extension raised, by its name; the others are not concerned.",),
    errors.QueueFullError: ("Wait for room: put() without block=False and timeout=. Or make a larger queue.",),
    errors.LoopLimitError: ("Check that the condition becomes false, or raise the limit of rounds.",),
    errors.GraphFileError: ("Capture the graph again, and save it by this version of stator.",),
    errors.UnpicklingError: ("Pickle the object again, by this version of stator.",),
    errors.LinAlgError: ("Check the matrix for NaN, and its condition; add a small multiple of the identity.",),
    errors.UnsupportedError: ("See the op's entry in stator.op_table() for what it supports.",),
    errors.DTypeError: ("Convert the argument, an array by x.astype().",),
    errors.ShapeError: ("Compare the shapes in the message; reshape or broadcast one operand.",),
    errors.OutOfRangeError: ('Find the call that has the index: Backend(check_indices="eager").',),
}
_OF_ANY_CUDA_ERROR = (
    "Run with STATOR_SYNC=1, so that the call whose work failed raises the error.",
    "Run the same on a cpu with STATOR_HOST_MODE=checked, which checks what kernels do.",
)
_STICKY = "Restart the process: after this error the device does nothing more in it."


def suggestions(error: errors.StatorError) -> list[str]:
    """What StatorError.recovery_suggestions does: without duplicates, those of the error itself first."""
    return list(dict.fromkeys(_all(error)))


def _all(error: errors.StatorError) -> Iterator[str]:
    if error.remedy:
        yield error.remedy if error.remedy.endswith((".", "!", "?")) else f"{error.remedy}."
    if isinstance(error, errors.OutOfMemoryError):
        yield from _of_memory(error)
    if isinstance(error, errors.CudaError):
        yield from _of_cuda(error)
    for kind in type(error).__mro__:
        yield from _OF_TYPE.get(kind, ())
        if kind is errors.ConfigurationError:  # a DTypeError too, whose suggestions are about arrays
            break


def _of_memory(error: errors.OutOfMemoryError) -> Iterator[str]:
    if error.largest_owner:
        yield f"Release the largest owner of memory: {error.largest_owner}."
    if error.scope:
        yield f"Give {error.scope} a larger budget than {error.budget} bytes, or end scopes that are in it earlier."
    if error.limit and error.requested > error.limit:
        yield f"Raise memory_limit: {error.limit} bytes never hold the {error.requested} that were asked for."
    elif error.limit:
        yield f"Raise memory_limit, which is {error.limit} bytes."
    if error.cached:
        yield "Give cached memory of other backends back: be.memory.empty_cache()."


def _of_cuda(error: errors.CudaError) -> Iterator[str]:
    if is_sticky(error):
        yield _STICKY
    if "InsufficientDriver" in error.name:
        yield "Install a driver that is as new as the CUDA runtime; `python -m stator doctor` names both versions."
    if "NoKernelImage" in error.name:
        yield "Install a build for the GPU's compute capability; `python -m stator doctor` names it."
    yield from _OF_ANY_CUDA_ERROR
