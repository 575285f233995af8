# By name, or by id.
terraform import runtimecloud_capacity_target.local target-local
