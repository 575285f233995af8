# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_environment" "dev" {
  name = "environment-dev"
}

import {
  to = runtimecloud_environment.dev
  identity = {
    id = data.runtimecloud_environment.dev.id
  }
}
