# The families of kernels, a folder each; every .cu file in it is compiled for every target, but for those of the hosts.
#
# stator_family(<family> [FOLDS <file> ...|ALL] [HOST <file> ...] [SHARDED <file> ...])
#   FOLDS    files whose kernels make few values of many or carry state along: the fast host calls their lambdas in inner
#            loops, and compiles them with FOLD_FLAGS, which csrc/CMakeLists.txt explains.
#   HOST     files that cuda has no use for, because libraries do their work there.
#   SHARDED  files that are compiled several times, with STATOR_SHARD = 0, 1, ..., STATOR_SHARDS - 1, to bound the memory
#            and the time of one compiler run; each time they have every STATOR_SHARDS-th of their kernels.
stator_family(attention)
stator_family(convolution)
stator_family(creation)
stator_family(elementwise SHARDED elementwise)
stator_family(embedding)
stator_family(fft FOLDS ALL)
stator_family(indexing)
stator_family(linalg)
stator_family(losses)
stator_family(matmul HOST small_product)
stator_family(movement)
stator_family(nn)
stator_family(norm)
stator_family(optim FOLDS ALL)
stator_family(pooling)
stator_family(quantization FOLDS observe histogram int4)
stator_family(random FOLDS ALL)
stator_family(recurrent)
stator_family(reduce FOLDS reduce SHARDED reduce)
stator_family(resampling)
stator_family(scan)
stator_family(sets)
stator_family(sort)
stator_family(sparse FOLDS sparse24_matmul sparse24_prune HOST sparse24_matmul)
