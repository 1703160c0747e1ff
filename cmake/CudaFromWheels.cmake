# Finds an nvcc and enables CUDA with it: CUDACXX or CMAKE_CUDA_COMPILER if given, else the cuda-toolkit wheels of the
# running Python (what an isolated build has), else PATH. The wheels keep nvcc in nvidia/cu13/bin and the libraries in
# nvidia/cu13/lib without a lib64, which CMake does not search by itself.
#
# Sets STATOR_CUDA to ON or OFF, and STATOR_CUDA_INCLUDE to the toolkit's headers.

if(NOT STATOR_CUDA AND NOT STATOR_CUDA STREQUAL "AUTO")
  return()
endif()

function(stator_find_cuda_wheels result)
  find_package(Python QUIET COMPONENTS Interpreter)
  if(Python_FOUND)
    execute_process(COMMAND ${Python_EXECUTABLE} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/find_cuda_wheels.py
      OUTPUT_VARIABLE home OUTPUT_STRIP_TRAILING_WHITESPACE)
  endif()
  set(${result} "${home}" PARENT_SCOPE)
endfunction()

if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  stator_find_cuda_wheels(found)  # folder;version
  if(found)
    list(GET found 0 wheels)
    list(GET found 1 version)
    # A folder that outlives the isolated environment, and headers whose times stay: the next build of the same tree
    # finds its objects still valid.
    set(STATOR_CUDA_HOME ${CMAKE_BINARY_DIR}/cuda-${version} CACHE INTERNAL "The toolkit of the wheels")
    if(NOT EXISTS ${STATOR_CUDA_HOME}/include/cuda_runtime.h OR
       (EXISTS ${wheels}/include/nvtx3 AND NOT EXISTS ${STATOR_CUDA_HOME}/include/nvtx3))
      file(COPY ${wheels}/include DESTINATION ${STATOR_CUDA_HOME})
    endif()
    foreach(part IN ITEMS bin lib nvvm)
      file(CREATE_LINK ${wheels}/${part} ${STATOR_CUDA_HOME}/${part} SYMBOLIC)
    endforeach()
    set(CMAKE_CUDA_COMPILER ${STATOR_CUDA_HOME}/bin/nvcc)
    # The compiler check links before this project can say where. (link_directories would not do for the project's own
    # links: CMake drops a folder that it saw in LIBRARY_PATH.)
    set(ENV{LIBRARY_PATH} "${STATOR_CUDA_HOME}/lib:$ENV{LIBRARY_PATH}")
  endif()
endif()

# nvcc's front half runs once, for the lowest architecture, whose PTX serves every GPU from there on; ptxas then makes the
# machine code of each, from that PTX. CMAKE_CUDA_ARCHITECTURES would run the front half for each of them.
set(architectures ${STATOR_CUDA_ARCHITECTURES})
if(NOT architectures AND NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capability OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND capability MATCHES "^([0-9]+)\\.([0-9])")
    set(arch ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    if(arch EQUAL 90)
      set(arch 90a)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${arch}-real)
    set(STATOR_MACHINE_CODE ${arch})
  else()
    set(architectures 80 90)  # no GPU says otherwise: PTX of 8.0, which no machine code of its own needs, and code for 9.0
    set(without_code 80)
  endif()
endif()
if(architectures)
  foreach(arch IN LISTS architectures)
    if(NOT arch MATCHES "^[0-9]+$" OR arch LESS 80)
      message(FATAL_ERROR "STATOR_CUDA_ARCHITECTURES=${STATOR_CUDA_ARCHITECTURES}: a list such as 80;90;120, from 80 on")
    endif()
  endforeach()
  list(SORT architectures COMPARE NATURAL)
  list(GET architectures 0 lowest)
  list(REMOVE_ITEM architectures ${without_code})
  set(STATOR_MACHINE_CODE ${architectures})
  list(TRANSFORM architectures PREPEND sm_)
  list(JOIN architectures "," code)
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  string(APPEND CMAKE_CUDA_FLAGS " -gencode arch=compute_${lowest},code=[${code},compute_${lowest}]")
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13.0)  # cudaMemPrefetchAsync and cudaMemAdvise take a cudaMemLocation since
    message(FATAL_ERROR "stator: nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER}) is too old: stator needs "
      "CUDA 13.0 or newer. Put a newer nvcc on PATH, or pass -C cmake.define.STATOR_CUDA=OFF.")
  endif()
  set(STATOR_CUDA ON)
  set(STATOR_CUDA_INCLUDE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  if(STATOR_CUDA_HOME)
    set(STATOR_CUDA_INCLUDE ${STATOR_CUDA_HOME}/include)
  endif()
  if(lowest)
    set(for "${code} and PTX of compute_${lowest}")
  else()
    set(for "${CMAKE_CUDA_ARCHITECTURES}")
  endif()
  message(STATUS "stator: cuda target by nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER}) for ${for}")
elseif(STATOR_CUDA STREQUAL "AUTO")
  message(WARNING "stator: no nvcc was found; building only the host target")
  set(STATOR_CUDA OFF)
else()
  message(FATAL_ERROR "stator: STATOR_CUDA=${STATOR_CUDA}, but no nvcc was found. Install the build requirement "
    "\"cuda-toolkit[nvcc,cudart,cccl,crt,nvtx,nvvm]==13.0.*\" or put a CUDA 13 toolkit's nvcc on PATH.")
endif()
