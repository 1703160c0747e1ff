# stator_column(<column> <host|cuda> [FLAGS ...] [FOLD_FLAGS ...]) compiles every kernels/*.cu as the column's own
# translation units into the object library column_<column>; with FOLD_FLAGS too where many values become few or state
# is carried along: adam, fft, random, reduction.
#
# A source file has one language and one set of definitions per folder, so each column gets a generated wrapper of each
# kernel file; a file whose text names STATOR_SHARD gets one per shard.

set(STATOR_SHARDS 4 CACHE STRING "Translation units that a sharded kernel file is split into")

function(stator_column column language)
  cmake_parse_arguments(arg "" "" "FLAGS;FOLD_FLAGS" ${ARGN})
  if(language STREQUAL "cuda")
    set(extension cu)
  else()
    set(extension cc)
  endif()
  file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/csrc/kernels/*.cu)
  set(units "")
  foreach(kernel ${kernels})
    get_filename_component(stem ${kernel} NAME_WE)
    file(READ ${kernel} text)
    if(text MATCHES "STATOR_SHARD[^S]")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernel})
      math(EXPR last "${STATOR_SHARDS} - 1")
      foreach(shard RANGE ${last})
        set(unit ${CMAKE_CURRENT_BINARY_DIR}/${column}/${stem}_${shard}.${extension})
        file(CONFIGURE OUTPUT ${unit} CONTENT "#define STATOR_SHARD ${shard}\n#include \"kernels/${stem}.cu\"\n")
        list(APPEND units ${unit})
      endforeach()
    else()
      set(unit ${CMAKE_CURRENT_BINARY_DIR}/${column}/${stem}.${extension})
      file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"kernels/${stem}.cu\"\n")
      list(APPEND units ${unit})
    endif()
  endforeach()
  set(folds ${units})
  list(FILTER folds INCLUDE REGEX "/(adam|fft|random|reduction)[^/]*$")
  set_source_files_properties(${folds} PROPERTIES COMPILE_OPTIONS "${arg_FOLD_FLAGS}")
  add_library(column_${column} OBJECT ${units})
  target_compile_definitions(column_${column} PRIVATE STATOR_COLUMN=${column} STATOR_SHARDS=${STATOR_SHARDS})
  target_include_directories(column_${column} PRIVATE ${PROJECT_SOURCE_DIR}/csrc ${PROJECT_SOURCE_DIR}/csrc/include)
  target_compile_options(column_${column} PRIVATE ${arg_FLAGS})
endfunction()
