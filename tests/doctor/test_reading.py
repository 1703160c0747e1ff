"""What the doctor reads without loading it: shared objects, folders of libraries, control groups."""

import math
from pathlib import Path

import pytest
from broken_environments import registry
from broken_environments.healthy import fat_binary, healthy, shared_object, write

from stator import _backend, _table
from stator._doctor import elf, search
from stator._doctor.examination import examine
from stator._system import cgroups


def test_code_for_gpus_is_read_over_the_padding_between_files(tmp_path):
    first, second = fat_binary(("ptx", 80, 7)), fat_binary(("code", 90, 5), ("code", 120, 6))
    path = shared_object(tmp_path / "library.so", nv_fatbin=first + bytes(8) + second + bytes(24))
    expected = [elf.Image("ptx", 80, 7), elf.Image("code", 90, 5), elf.Image("code", 120, 6)]
    assert elf.images(path) == expected


def test_the_installed_library_has_code_for_gpus_if_it_was_built_with_cuda():
    images = elf.images(Path(_backend.__file__).parent / "lib/libstator_cuda.so")
    assert bool(images) == _table.build()["cuda"]
    assert all(image.architecture >= 80 and image.bytes > 0 for image in images)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"", "has 0 bytes"),
        (lambda data: b"#!" + data[2:], "does not begin as a shared object"),
        (lambda data: data[:4] + b"\1" + data[5:], "another processor"),
        (lambda data: data[:-1], "should have"),
    ],
)
def test_a_damaged_file_is_told(tmp_path, damage, words):
    path = shared_object(tmp_path / "library.so", dynstr=b"\0")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(elf.BrokenFileError, match=words):
        elf.sections(path)


def test_the_names_of_one_file_are_one_copy(tmp_path):
    path = shared_object(tmp_path / "libcublas.so.13.0.1")
    (tmp_path / "libcublas.so.13").symlink_to(path)
    (tmp_path / "libcublas.so").symlink_to(path)
    assert len(search.files([tmp_path, tmp_path], "libcublas.so.")) == 1


def test_a_link_to_the_library_that_stator_takes_is_no_copy(tmp_path):
    env = healthy(tmp_path)
    taken = Path(env.package.libraries[1].path)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / taken.name).symlink_to(taken)
    registry.set_variables(env, LD_LIBRARY_PATH=str(tmp_path / "links"))
    assert examine(env) == []


def test_the_tightest_of_the_groups_holds(tmp_path):
    env = healthy(tmp_path)
    assert (cgroups.cpus(env), cgroups.memory(env), cgroups.tasks(env)) == (math.inf, math.inf, (math.inf, 0))
    write(env.at("/proc/self/cgroup"), "0::/outer/inner\n")
    for group, cpu, memory, pids in (("outer", "300000 100000", 5000, 90), ("outer/inner", "600000 100000", 9000, 70)):
        write(env.at(f"/sys/fs/cgroup/{group}/cpu.max"), cpu + "\n")
        write(env.at(f"/sys/fs/cgroup/{group}/memory.max"), f"{memory}\n")
        write(env.at(f"/sys/fs/cgroup/{group}/pids.max"), f"{pids}\n")
        write(env.at(f"/sys/fs/cgroup/{group}/pids.current"), "20\n")
    assert (cgroups.cpus(env), cgroups.memory(env), cgroups.tasks(env)) == (3, 5000, (70, 20))


def test_the_real_system_can_be_read(tmp_path):
    env = type(healthy(tmp_path))()
    assert cgroups.cpus(env) > 0 and cgroups.memory(env) > 0
    assert env.cpu_flags and env.allowed_cpus > 0 and env.limits["open files"] != 0
    assert env.images is not None and env.levels("stator_host")
