# By its environment's name and its own, or by id.
terraform import runtimecloud_capacity_lease.training lease-dev/training
