# By its environment's name and its own, or by id.
terraform import runtimecloud_worker_pool.web pool-dev/web
