"""Where work runs: threads, a cluster, and how it is interrupted.

`threads` calls kernels on the threads of this process, `executor` chooses between those and a Dask
cluster, `runs` does many runs of one function with progress, `interrupts` holds back Ctrl-C, and
`torch_threads` keeps torch to one thread.
"""
