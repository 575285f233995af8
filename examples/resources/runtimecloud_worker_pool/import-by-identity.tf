# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_worker_pool" "web" {
  environment = "pool-dev"
  name        = "web"
}

import {
  to = runtimecloud_worker_pool.web
  identity = {
    id = data.runtimecloud_worker_pool.web.id
  }
}
