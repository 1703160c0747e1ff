"""CPUs, limits and control groups that do not fit."""

from broken_environments.healthy import flags, write
from broken_environments.registry import broken, set_variables
from stator._doctor.environment import Space


@broken("cpu-old", "avx2, bmi2, fma")
def cpu_before_the_build(env):
    for level in ("v2", "v4"):
        (env.folder / f"libstator_host_{level}.so").unlink()
    write(env.at("/proc/cpuinfo"), flags("v2"))


@broken("cpu-unused", "v4")
def cpu_beyond_the_build(env):
    (env.folder / "libstator_host_v4.so").unlink()


@broken("cpu-foreign", "aarch64")
def cpu_of_another_architecture(env):
    env.machine = "aarch64"


@broken("threads-over-quota", "8 CPUs are allowed, with the time of 2 of them")
def quota_below_the_cpus(env):
    write(env.at("/sys/fs/cgroup/cpu.max"), "200000 100000\n")


@broken("threads-over-quota", "the time of 0.5 of them")
def quota_of_a_parent_group(env):
    write(env.at("/proc/self/cgroup"), "0::/user.slice/app.scope\n")
    write(env.at("/sys/fs/cgroup/user.slice/app.scope/cpu.max"), "max 100000\n")
    write(env.at("/sys/fs/cgroup/user.slice/cpu.max"), "50000 100000\n")


@broken("threads-over-quota", "the time of 4 of them")
def quota_of_version_1(env):
    write(env.at("/proc/self/cgroup"), "4:cpu,cpuacct:/docker/0a1b\n1:name=systemd:/docker/0a1b\n")
    write(env.at("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), "400000\n")
    write(env.at("/sys/fs/cgroup/cpu/cpu.cfs_period_us"), "100000\n")


@broken("threads-oversubscribed", "OMP_NUM_THREADS=64, and there are 8 CPUs")
def more_threads_than_cpus(env):
    set_variables(env, OMP_NUM_THREADS="64", OPENBLAS_NUM_THREADS="8")


@broken("threads-wrong", "OPENBLAS_NUM_THREADS=all")
def number_of_threads_in_words(env):
    set_variables(env, OPENBLAS_NUM_THREADS="all")


@broken("shm-small", "64.0 MiB")
def shared_memory_of_a_container(env):
    env.shared_memory = Space(64 << 20, 60 << 20)


@broken("shm-small", "0.0 MiB are free")
def shared_memory_full(env):
    env.shared_memory = Space(8 << 30, 4096)


@broken("shm-small", "does not exist")
def no_shared_memory(env):
    env.shared_memory = None


@broken("locked-memory-small", "64 KiB")
def little_locked_memory(env):
    env.limits = {**env.limits, "locked memory": 64 << 10}


@broken("open-files-small", "ulimit -n is 64")
def few_open_files(env):
    env.limits = {**env.limits, "open files": 64}


@broken("address-space-limited", "ulimit -v is 16777216 KiB")
def limited_address_space(env):
    env.limits = {**env.limits, "address space": 16 << 30}


@broken("threads-limited", "4 of 100 are left")
def few_tasks_left(env):
    write(env.at("/sys/fs/cgroup/pids.max"), "100\n")
    write(env.at("/sys/fs/cgroup/pids.current"), "96\n")


@broken("memory-limit-unseen", "512.0 MiB")
def memory_limit_of_an_inner_group(env):
    write(env.at("/proc/self/cgroup"), "0::/job\n")
    write(env.at("/sys/fs/cgroup/memory.max"), "max\n")
    write(env.at("/sys/fs/cgroup/job/memory.max"), f"{512 << 20}\n")


@broken("fork", "before 3.14")
def processes_by_fork(env):
    env.start_method = "fork"
