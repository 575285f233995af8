# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_capacity_lease" "training" {
  environment = "lease-dev"
  name        = "training"
}

import {
  to = runtimecloud_capacity_lease.training
  identity = {
    id = data.runtimecloud_capacity_lease.training.id
  }
}
