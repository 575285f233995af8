# An identity is the id that the host chose; a data source finds it by name.
data "runtimecloud_service_account_token" "deploy" {
  service_account = "token-ci"
  name            = "deploy"
}

import {
  to = runtimecloud_service_account_token.deploy
  identity = {
    id = data.runtimecloud_service_account_token.deploy.id
  }
}
