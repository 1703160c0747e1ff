# stator_kernels(<target> <host|cuda> [FLAGS ...] [FOLD_FLAGS ...]) compiles every kernels/<family>/*.cu as the target's
# own translation units into the object library kernels_<target>; with FOLD_FLAGS too where families.cmake says FOLDS.
#
# A source file has one language and one set of definitions per folder, so each target gets generated wrappers of the
# kernel files. A file that is SHARDED gets one per shard; of the others STATOR_UNIT_FILES neighbours share one, because
# half of a small file's compile time is its headers. nvcc, which takes several times as long per kernel, gets units half
# as large. Every family is a namespace, so that files which share a unit cannot meet in their names.

set(STATOR_SHARDS 2 CACHE STRING "Translation units that a sharded kernel file is split into for g++; for nvcc twice as many")

# Collects the lists stator_plain_files, stator_fold_files, stator_plain_shards and stator_fold_shards of <family>/<file>,
# and stator_kernel_files of paths.
function(stator_family family)
  cmake_parse_arguments(arg "" "" "FOLDS;SHARDED" ${ARGN})
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/csrc/kernels/${family}/*.cu)
  foreach(path ${files})
    get_filename_component(file ${path} NAME_WE)
    set(kind plain)
    if(file IN_LIST arg_FOLDS OR arg_FOLDS STREQUAL "ALL")
      set(kind fold)
    endif()
    if(file IN_LIST arg_SHARDED)
      list(APPEND stator_${kind}_shards ${family}/${file})
      set_source_files_properties(${path} PROPERTIES COMPILE_DEFINITIONS STATOR_SHARD=0)  # where it is compiled directly
    else()
      list(APPEND stator_${kind}_files ${family}/${file})
    endif()
    list(APPEND stator_kernel_files ${path})
  endforeach()
  foreach(variable stator_plain_files stator_fold_files stator_plain_shards stator_fold_shards stator_kernel_files)
    set(${variable} ${${variable}} PARENT_SCOPE)
  endforeach()
endfunction()

include(${PROJECT_SOURCE_DIR}/csrc/kernels/families.cmake)
list(APPEND stator_plain_files target)
list(APPEND stator_kernel_files ${PROJECT_SOURCE_DIR}/csrc/kernels/target.cu)

# stator_units(<variable> <folder> <extension> <files per unit> <file> ...) writes wrappers of the files, in units of about
# equal numbers, and appends them to the variable.
function(stator_units variable folder extension unit_files)
  set(units ${${variable}})
  list(LENGTH ARGN count)
  math(EXPR unit_count "(${count} + ${unit_files} / 2) / ${unit_files}")
  if(unit_count EQUAL 0)
    set(unit_count 1)
  endif()
  set(first 0)
  foreach(unit RANGE 1 ${unit_count})
    math(EXPR end "${count} * ${unit} / ${unit_count}")
    math(EXPR length "${end} - ${first}")
    list(SUBLIST ARGN ${first} ${length} group)
    set(first ${end})
    list(GET group 0 name)
    list(GET group -1 last)
    if(NOT last STREQUAL name)
      string(APPEND name "-${last}")
    endif()
    string(REPLACE "/" "_" name ${name})
    list(TRANSFORM group REPLACE "(.+)" "#include \"kernels/\\1.cu\"")
    list(JOIN group "\n" text)
    file(CONFIGURE OUTPUT ${folder}/${name}.${extension} CONTENT "${text}\n")
    list(APPEND units ${folder}/${name}.${extension})
  endforeach()
  set(${variable} ${units} PARENT_SCOPE)
endfunction()

# stator_shards(<variable> <folder> <extension> <shards> <file> ...) likewise, a wrapper per shard of each file.
function(stator_shards variable folder extension shards)
  set(units ${${variable}})
  math(EXPR last "${shards} - 1")
  foreach(file ${ARGN})
    string(REPLACE "/" "_" name ${file})
    foreach(shard RANGE ${last})
      set(unit ${folder}/${name}_${shard}.${extension})
      file(CONFIGURE OUTPUT ${unit} CONTENT "#define STATOR_SHARD ${shard}\n#include \"kernels/${file}.cu\"\n")
      list(APPEND units ${unit})
    endforeach()
  endforeach()
  set(${variable} ${units} PARENT_SCOPE)
endfunction()

function(stator_kernels target language)
  cmake_parse_arguments(arg "" "" "FLAGS;FOLD_FLAGS" ${ARGN})
  if(language STREQUAL "cuda")
    set(extension cu)
    math(EXPR shards "2 * ${STATOR_SHARDS}")
    math(EXPR unit_files "(${STATOR_UNIT_FILES} + 1) / 2")
  else()
    set(extension cc)
    set(shards ${STATOR_SHARDS})
    set(unit_files ${STATOR_UNIT_FILES})
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target})
  foreach(kind plain fold)
    set(${kind}_units "")
    stator_units(${kind}_units ${folder} ${extension} ${unit_files} ${stator_${kind}_files})
    stator_shards(${kind}_units ${folder} ${extension} ${shards} ${stator_${kind}_shards})
  endforeach()
  set_source_files_properties(${fold_units} PROPERTIES COMPILE_OPTIONS "${arg_FOLD_FLAGS}")
  add_library(kernels_${target} OBJECT ${plain_units} ${fold_units})
  target_compile_definitions(kernels_${target} PRIVATE STATOR_TARGET=${target} STATOR_SHARDS=${shards})
  target_include_directories(kernels_${target} PRIVATE ${PROJECT_SOURCE_DIR}/csrc ${PROJECT_SOURCE_DIR}/csrc/include)
  target_compile_options(kernels_${target} PRIVATE ${arg_FLAGS})
  # An editor reads the kernel files themselves (stator_editor), and only as the checked target, which defines launchers.
  set_target_properties(kernels_${target} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
  if(NOT language STREQUAL "cuda")  # what most units start with, read once; other flags would need a copy of their own
    target_precompile_headers(kernels_${target} PRIVATE <algorithm> <bit> <cmath> <cstring> <limits> <type_traits> <utility>
      device/convert.cuh device/group.cuh device/index.cuh device/launch.cuh device/math/math.cuh device/vector.cuh)
    if(arg_FOLD_FLAGS)
      set_source_files_properties(${fold_units} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endif()
endfunction()
