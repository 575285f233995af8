terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_service_account" "ci" {
  name        = "account-ci"
  role        = "editor"
  description = "Deploys what was merged."
  labels      = { team = "a" }
}
