# The families of kernels, a folder each; every .cu file in it is compiled for every target, but for those of the hosts.
#
# stator_family(<family> [UNIT <name>] [FOLDS <file> ...|ALL] [HOST <file> ...] [SHARDED <file> ...])
#   UNIT     the translation unit, which the family shares with others of that name; by default one of its own.
#   FOLDS    files whose kernels make few values of many or carry state along: the fast host calls their lambdas in inner
#            loops, and compiles them with FOLD_FLAGS, which csrc/CMakeLists.txt explains.
#   HOST     files that cuda has no use for, because libraries do their work there.
#   SHARDED  files that are compiled several times, with STATOR_SHARD = 0, 1, ..., STATOR_SHARDS - 1, to bound the memory
#            and the time of one compiler run; each time they have every STATOR_SHARDS-th of their kernels.
stator_family(attention UNIT windows)
stator_family(convolution UNIT windows)
stator_family(creation UNIT items)
stator_family(elementwise UNIT items SHARDED elementwise)
stator_family(embedding UNIT items)
stator_family(fft UNIT signals FOLDS ALL)
stator_family(indexing UNIT items)
stator_family(linalg)
stator_family(losses UNIT layers)
stator_family(matmul UNIT products HOST small_product)
stator_family(movement UNIT items)
stator_family(nn)
stator_family(norm)
stator_family(optim FOLDS ALL)
stator_family(pooling UNIT windows)
stator_family(quantization UNIT layers FOLDS observe histogram int4)
stator_family(random UNIT signals FOLDS ALL)
stator_family(recurrent UNIT layers)
stator_family(reduce UNIT layers FOLDS reduce SHARDED reduce)
stator_family(resampling UNIT layers)
stator_family(scan UNIT order)
stator_family(sets UNIT order)
stator_family(sort UNIT order)
stator_family(sparse UNIT products FOLDS sparse24_matmul sparse24_prune HOST sparse24_matmul)
