# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_capacity_target" "local" {
  name = "target-local"
}

import {
  to = runtimecloud_capacity_target.local
  identity = {
    id = data.runtimecloud_capacity_target.local.id
  }
}
