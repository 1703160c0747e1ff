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
    if(NOT EXISTS ${STATOR_CUDA_HOME}/include/cuda_runtime.h)
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

if(NOT CMAKE_CUDA_ARCHITECTURES)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capability OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed AND capability MATCHES "^([0-9]+)\\.([0-9])")
    set(arch ${CMAKE_MATCH_1}${CMAKE_MATCH_2})
    if(arch EQUAL 90)
      set(arch 90a)
    endif()
    set(CMAKE_CUDA_ARCHITECTURES ${arch}-real)
  else()
    # Where no GPU says otherwise: PTX for any GPU from compute capability 8.0 on, and code for 9.0 made from that PTX,
    # which spares every unit a second run of the compiler's front half.
    set(CMAKE_CUDA_ARCHITECTURES OFF)
    string(APPEND CMAKE_CUDA_FLAGS " -gencode arch=compute_80,code=[sm_90,compute_80]")
  endif()
endif()

include(CheckLanguage)
check_language(CUDA)
if(CMAKE_CUDA_COMPILER)
  enable_language(CUDA)
  if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.8)
    message(FATAL_ERROR "stator: nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER}) is too old: "
      "CUDA 13.0 is what stator is built and tested with; releases below 12.8 are refused. Put a newer nvcc on PATH, or pass -C cmake.define.STATOR_CUDA=OFF.")
  endif()
  set(STATOR_CUDA ON)
  set(STATOR_CUDA_INCLUDE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  if(STATOR_CUDA_HOME)
    set(STATOR_CUDA_INCLUDE ${STATOR_CUDA_HOME}/include)
  endif()
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  if(NOT architectures)
    set(architectures "9.0 and PTX 8.0")
  endif()
  message(STATUS "stator: cuda target by nvcc ${CMAKE_CUDA_COMPILER_VERSION} (${CMAKE_CUDA_COMPILER}) for "
    "${architectures}")
elseif(STATOR_CUDA STREQUAL "AUTO")
  message(WARNING "stator: no nvcc was found; building the host target alone")
  set(STATOR_CUDA OFF)
else()
  message(FATAL_ERROR "stator: STATOR_CUDA=${STATOR_CUDA}, but no nvcc was found. Install the build requirement "
    "\"cuda-toolkit[nvcc,cudart,cccl,crt,nvvm]==13.0.*\" or put a CUDA 13 toolkit's nvcc on PATH.")
endif()
