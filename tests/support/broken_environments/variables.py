"""Variables of the environment that are unknown or wrong."""

from broken_environments.registry import broken, set_package, set_variables


@broken("variable-unknown", "there is STATOR_EMULATE")
def misspelled_variable(env):
    set_variables(env, STATOR_EMULAT="h200")


@broken("variable-wrong", "STATOR_HOST_MODE=check, not one of: fast checked")
def mode_that_there_is_not(env):
    set_variables(env, STATOR_HOST_MODE="check")


@broken("variable-wrong", "STATOR_SYNC=yes")
def flag_in_words(env):
    set_variables(env, STATOR_SYNC="yes")


@broken("variable-wrong", "STATOR_HOST_ISA=v5, not one of: v2 v3 v4")
def level_that_there_is_not(env):
    set_variables(env, STATOR_HOST_ISA="v5")


@broken("variable-wrong debugging", "STATOR_CHECK=order,poisn")
def check_that_there_is_not(env):
    set_variables(env, STATOR_CHECK="order,poisn")


@broken("configuration-wrong", "STATOR_DEVICE=gpu")
def device_of_no_type(env):
    set_variables(env, STATOR_DEVICE="gpu")
    set_package(env, configuration_error="STATOR_DEVICE=gpu: no device has this name")


@broken("device-missing", "the number of devices is 1")
def device_beyond_the_last(env):
    set_variables(env, STATOR_DEVICE="cuda:1")


@broken("record-fails", "nowhere")
def record_without_a_folder(env):
    set_variables(env, STATOR_EMULATE_RECORD=str(env.root / "nowhere"))


@broken("debugging", "STATOR_SYNC=1")
def every_launch_is_waited_for(env):
    set_variables(env, STATOR_SYNC="1")


@broken("cuda-variable-wrong", "CUDA_DEVICE_ORDER=PCI")
def order_of_devices_that_there_is_not(env):
    set_variables(env, CUDA_DEVICE_ORDER="PCI")


@broken("eager-loading", "EAGER")
def all_kernels_loaded_at_once(env):
    set_variables(env, CUDA_MODULE_LOADING="EAGER")
