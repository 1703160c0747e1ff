"""The results as a table on the terminal, and as docs/emulated_counters.md."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .counted import Counted
from .results import CUB, Results

HEAD = (
    "case",
    "passes",
    "launches",
    "blocks",
    "busy multi-processors",
    "instructions per element",
    "sectors per request",
    "MB in sectors",
    "MB moved",
    "least MB",
    "of the least",
    "wavefronts per request",
    "mma per instruction",
    "atomics",
    "local accesses",
    "registers",
    "resident blocks",
    "local bytes",
    "memory, us",
    "issue, us",
)

TEXT = """# What the kernels do, by counters

Made by `python -m benchmarks --target emulated --write`: every case runs on an {device}, which
counts instructions and accesses. **This is a model and no timing**: no GPU was measured. Counts are exact for the PTX
that nvcc makes; the machine code that ptxas makes of it differs. The numbers are those of
`benchmarks/results/emulated.csv`, where they are whole. With `--compare` the command fails where one is more than 3 %
worse than there.

- *passes*: 2 where all of an operand must be seen before the first result, and the operand is too long to be kept.
- *launches*: of one call. *blocks* and *busy multiprocessors* (of {multiprocessors}) are of its launch with the most
  instructions.
- *instructions per element*: executed by lanes, over the elements of the largest array, or over the multiplications
  of a product.
- *sectors per request*: pieces of 32 bytes that one load or store of global memory by one warp touches. A warp that
  reads neighbouring floats touches 4, with 16 bytes a lane 16; 32 are as scattered as can be.
- *MB in sectors*: all of those pieces, as if there were no cache. *MB moved*: those that are stored, and those that
  are loaded and not held by the multiprocessor's first cache. Multiprocessors take blocks in turn and keep what earlier
  ones read; the second cache, which all share, is not modelled. *least MB*: results once and operands
  once, or twice where there are two passes over them; *of the least*: the ratio of what is moved to it. Atomics are
  not among them.
- *wavefronts per request*: passes through the banks of shared memory for one load or store: 1 without conflicts and
  with up to 4 bytes a lane, 2 with 8, 4 with 16.
- *mma per instruction*: products of tiles by matrix units over all instructions that warps issue, of the launch with
  the lowest share. It is that of the main loop where the same grid could be counted with a longer loop: then it is
  over the instructions by which the two counts differ.
- *atomics* and *local accesses* (to arrays of a thread that do not fit into registers): instructions of warps.
- *registers* and *local bytes*, of a thread, are those of the machine code for compute capability {capability}, and
  *resident blocks* those that one multiprocessor holds, by registers, threads and shared memory: the worst of all
  launches.
- *memory*: MB moved at {bandwidth:.2f} TB/s. *issue*: instructions of warps at one for each of the four schedulers
  of the multiprocessors that have a block, at {clock:.2f} GHz; a launch with few blocks has few. The larger of the two
  bounds the kernel in this model, which knows neither latency nor the cost of a launch.

Products and Fourier transforms of the vendors' libraries are not among the cases: their doubles do not count.
"""


def cells(row: Counted, multiprocessors: int) -> list[str]:
    return [
        row.case,
        str(row.passes),
        str(row.launches),
        f"{row.blocks:,}",
        str(min(row.blocks, multiprocessors)),
        f"{row.instructions_per_element:.1f}",
        f"{row.sectors_per_request:.1f}",
        f"{row.sector_bytes / 1e6:.2f}",
        f"{row.moved_bytes / 1e6:.2f}",
        f"{row.floor / 1e6:.2f}",
        f"{row.traffic:.2f}",
        f"{row.wavefronts_per_request:.2f}" if row.wavefronts_per_request else "",
        f"{row.mma_per_instruction:.2f}" if row.mma_per_instruction is not None else "",
        f"{row.atomics:,}" if row.atomics else "",
        f"{row.local:,}" if row.local else "",
        str(row.registers),
        str(row.resident),
        str(row.local_bytes) if row.local_bytes else "",
        f"{row.memory_us:.2f}",
        f"{row.issue_us:.2f}",
    ]


def show(console: Console, results: Results) -> None:
    table = Table(title="counters of one call, a model and no timing")
    for k, heading in enumerate(HEAD):
        table.add_column(heading, justify="right" if k else "left", no_wrap=k == 0)
    for row in results.rows:
        table.add_row(*cells(row, results.device.multiprocessors))
    console.print(table)


def _lines(rows: list[list[str]]) -> list[str]:
    align = ["---", *["---:"] * (len(HEAD) - 1)]
    return ["| " + " | ".join(line) + " |" for line in (HEAD, align, *rows)]


def markdown(results: Results) -> str:
    """The page; CUB's algorithms stand beside those of the same families."""
    device, rows = results.device, results.rows
    count = device.multiprocessors
    text = TEXT.format(
        device=device.device,
        multiprocessors=count,
        capability=f"{max(row.architecture for row in rows) / 10:.1f}",
        bandwidth=device.bytes_per_second / 1e12,
        clock=device.instructions_per_second / (4 * count) / 1e9,
    )
    parts = [text.rstrip()]
    for family in dict.fromkeys(row.family for row in rows):
        parts += ["", f"## {family}", "", *_lines([cells(r, count) for r in rows if r.family == family])]
    if any(row.case.startswith(CUB) for row in rows):
        parts += [
            "",
            "CUB is that of the `cccl` headers beside the compiler, compiled with the options and for the",
            "architectures of stator's kernels, on a million floats.",
        ]
    else:
        parts += ["", "CUB was not compiled, or not asked for."]
    return "\n".join(parts) + "\n"
