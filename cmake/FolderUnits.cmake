# stator_folder_units(<target> <source> ...) compiles the sources of each folder as one unit, because half of the time of a
# small file is its headers. The folder is the bound so that a new file cannot put two of other folders into one unit that share
# a name. With STATOR_UNITS=OFF every file stays by itself.
function(stator_folder_units target)
  if(NOT STATOR_UNITS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${ARGN})
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/csrc)
    string(REPLACE "/" "_" folder ${folder})
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
endfunction()
