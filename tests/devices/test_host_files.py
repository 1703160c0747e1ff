"""The host's description from files that stand for another machine's."""

import os

import pytest

from stator.hardware import host, host_files

SKYLAKE = "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe xsave"


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def cpuinfo(flags):
    first = f"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: A processor\nflags\t\t: {flags}\n"
    return {"proc/cpuinfo": first + "\nprocessor\t: 1\nmodel name\t: Another\n"}


def cache(cpu, index, level, kind, size, line="64"):
    folder = f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
    facts = {"level": level, "type": kind, "size": size, "coherency_line_size": line}
    return {f"{folder}/{name}": f"{text}\n" for name, text in facts.items()}


def first_cpu():
    return min(os.sched_getaffinity(0))


def test_caches_of_data_are_read_and_those_of_instructions_are_not(tmp_path):
    files = {
        **cache(3, 0, 1, "Data", "48K"),
        **cache(3, 1, 1, "Instruction", "32K"),
        **cache(3, 2, 2, "Unified", "2M"),
        **cache(3, 3, 3, "Unified", "36864K"),
    }
    assert host_files.caches(3, write(tmp_path, files)) == {"l1": 48 << 10, "l2": 2 << 20, "l3": 36 << 20, "line": 64}


@pytest.mark.parametrize(
    ("flags", "level"),
    [
        (SKYLAKE, "x86-64-v3"),
        (SKYLAKE + " avx512f avx512bw avx512cd avx512dq avx512vl", "x86-64-v4"),
        (SKYLAKE.replace(" fma", ""), "x86-64-v2"),
        ("sse2", None),
    ],
)
def test_the_level_is_the_highest_whose_flags_are_all_there(flags, level):
    assert host.isa_level(tuple(flags.split())) == level


def test_the_least_limit_of_the_control_groups_above_the_process_holds(tmp_path):
    files = {
        "proc/self/cgroup": "0::/slice/unit\n",
        "sys/fs/cgroup/slice/cpu.max": "150000 100000\n",
        "sys/fs/cgroup/slice/unit/cpu.max": "300000 100000\n",
        "sys/fs/cgroup/cpu.max": "max 100000\n",
    }
    assert host_files.cpu_limit(write(tmp_path, files)) == 1.5


def test_no_limit_is_none(tmp_path):
    files = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}
    assert host_files.cpu_limit(write(tmp_path, files)) is None


def test_the_limit_of_the_older_control_groups_is_read(tmp_path):
    files = {"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000"}
    assert host_files.cpu_limit(write(tmp_path, files)) == 0.5


def test_available_memory_is_limited_by_the_control_group(tmp_path):
    files = {
        "proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n",
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": "5000\n",
        "sys/fs/cgroup/memory.current": "3000\n",
        "sys/fs/cgroup/memory.stat": "anon 1000\ninactive_file 500\n",
    }
    root = write(tmp_path, files)
    assert host_files.available_memory(root) == 5000 - 3000 + 500
    (root / "sys/fs/cgroup/memory.max").write_text("max\n")
    assert host_files.available_memory(root) == 8000 << 10


def test_threads_of_one_core_are_one_core(tmp_path):
    files = {}
    for cpu, core in ((0, 0), (1, 0), (2, 1)):
        files[f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id"] = "0\n"
        files[f"sys/devices/system/cpu/cpu{cpu}/topology/core_id"] = f"{core}\n"
    root = write(tmp_path, files)
    assert host_files.physical_cores((0, 1, 2), root) == 2
    assert host_files.physical_cores((0, 5), root) is None


def test_a_machine_that_tells_nothing_is_described_by_none(tmp_path):
    caps = host.capabilities(tmp_path)
    unknown = ("simd", "simd_bits", "isa_level", "clock_khz", "cpu_limit", "float16", "bfloat16")
    assert [getattr(caps, name) for name in unknown] == [None] * len(unknown)
    assert caps.memory_hierarchy.l1_cache_size is None
    assert caps.memory_hierarchy.cache_line_size is None
    assert caps.custom_capabilities["physical_cores"] is None
    assert host.info(root=tmp_path).memory_free is None
    assert host.info(root=tmp_path).vendor is None


def test_a_described_machine_is_what_its_files_say(tmp_path):
    cpu = first_cpu()
    files = {
        **cpuinfo(SKYLAKE + " avx512f avx512_bf16"),
        **cache(cpu, 0, 1, "Data", "32K", "128"),
        f"sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq": "3500000\n",
        "proc/meminfo": "MemAvailable: 8000 kB\n",
    }
    root = write(tmp_path, files)
    caps, info = host.capabilities(root), host.info(root=root)
    assert (info.vendor, info.name, info.memory_free) == ("Intel", "A processor", 8000 << 10)
    assert (caps.simd_bits, caps.isa_level, caps.clock_khz) == (512, "x86-64-v3", 3_500_000)
    assert (caps.bfloat16, caps.float16) == (True, False)
    assert (caps.memory_hierarchy.l1_cache_size, caps.memory_hierarchy.cache_line_size) == (32 << 10, 128)
    assert "avx2" in caps.simd
    assert "popcnt" not in caps.simd


def test_the_processor_of_this_machine_is_asked():
    caps = host.capabilities()
    assert caps.cores == len(os.sched_getaffinity(0)) == caps.custom_capabilities["workers"]
    assert caps.max_compute_units == caps.cores


def test_available_memory_is_limited_by_the_older_control_groups(tmp_path):
    files = {
        "proc/meminfo": "MemAvailable: 8000 kB\n",
        "proc/self/cgroup": "4:memory:/unit\n",
        "sys/fs/cgroup/memory/unit/memory.limit_in_bytes": "5000\n",
        "sys/fs/cgroup/memory/unit/memory.usage_in_bytes": "3000\n",
    }
    assert host_files.available_memory(write(tmp_path, files)) == 2000
