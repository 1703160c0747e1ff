# For gdb on the checked target: `fiber RANK` prints the stack of a CUDA thread that waits, `fibers` where each one waits.
# gdb -x tools/fibers.gdb: docs/howto/debug_native_code.md

define fiber
  set $run = 'stator::host_checked::fiber::(anonymous namespace)::current_run'
  set $fiber = $run->fibers_._M_impl._M_start + $arg0
  frame 0
  # stator_fiber_switch has pushed six registers, rbp first, below the return address.
  set $saved = (long *)$fiber->stack_pointer
  set $pc_now = $pc
  set $sp_now = $sp
  set $bp_now = $rbp
  set $rbp = $saved[5]
  set $sp = (long)($saved + 7)
  set $pc = $saved[6]
  backtrace
  set $pc = $pc_now
  set $sp = $sp_now
  set $rbp = $bp_now
end

define fibers
  set $run = 'stator::host_checked::fiber::(anonymous namespace)::current_run'
  set $fiber = $run->fibers_._M_impl._M_start
  while $fiber != $run->fibers_._M_impl._M_finish
    printf "%d: ", $fiber->rank
    output $fiber->state
    printf " "
    output $fiber->site
    printf "\n"
    set $fiber = $fiber + 1
  end
end
