# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_service_account" "ci" {
  name = "account-ci"
}

import {
  to = runtimecloud_service_account.ci
  identity = {
    id = data.runtimecloud_service_account.ci.id
  }
}
